from __future__ import annotations

import time

import pytest

from sessions_app.domain.errors import BadResponse
from sessions_app.wire.sse_decoder import ServerSentEvent, SSEDecoder


def decode(*reads: bytes) -> list[ServerSentEvent]:
    decoder = SSEDecoder()
    found = [event for raw in reads for event in decoder.feed(raw)]
    return found + decoder.flush()


def payloads(*reads: bytes) -> list[bytes]:
    return [event.data for event in decode(*reads)]


def cuts(raw: bytes) -> list[tuple[bytes, bytes]]:
    return [(raw[:at], raw[at:]) for at in range(len(raw) + 1)]


def test_one_read_gives_one_event() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\n") == [ServerSentEvent(b"a")]
    assert decoder.feed(b"data: b\n\n") == [ServerSentEvent(b"b")]


def test_half_event_needs_more_bytes() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\n") == [ServerSentEvent(b"a")]


# C01
def test_cut_multibyte_character_stays_whole() -> None:
    for first, second in cuts('data: "好🙂"\n\n'.encode()):
        assert payloads(first, second) == ['"好🙂"'.encode()]


# C03
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_join_data_lines_at_every_cut(end: bytes) -> None:
    raw = b"data: 1," + end + b"data: 2" + end + end
    for first, second in cuts(raw):
        assert payloads(first, second) == [b"1,\n2"]


# C03
def test_mixed_line_ends_in_one_stream() -> None:
    raw = b"data: a\r\n\r\ndata: b\n\ndata: c\r\rdata: d\r\n\ndata: e\n\r\n"
    for first, second in cuts(raw):
        assert payloads(first, second) == [b"a", b"b", b"c", b"d", b"e"]


# C03
def test_cr_at_end_of_read_dispatches_at_once() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\r\r") == [ServerSentEvent(b"a")]
    assert decoder.feed(b"\n") == []
    assert decoder.feed(b"data: b\n\n") == [ServerSentEvent(b"b")]


# C03
def test_lf_after_cr_ends_no_second_line() -> None:
    assert payloads(b"data: a\r", b"\ndata: b\r\n\r\n") == [b"a\nb"]


# C04
@pytest.mark.parametrize(
    ("raw", "expected"),
    [(b"data:x\n\n", b"x"), (b"data: x\n\n", b"x"), (b"data:  x\n\n", b" x")],
)
def test_at_most_one_space_is_stripped(raw: bytes, expected: bytes) -> None:
    assert payloads(b"\n", raw) == [expected]


# C04
def test_exactly_one_leading_bom_is_removed() -> None:
    bom = b"\xef\xbb\xbf"
    for first, second in cuts(bom + b"data: a" + bom + b"\n\n"):
        assert payloads(first, second) == [b"a" + bom]
    assert payloads(bom + bom + b"data: a\n\n") == []


# C04
def test_unknown_fields_and_bare_data_do_no_harm() -> None:
    raw = b"retry: 10\nfoo: bar\nid: 7\n: ping\ndata\ndata: x\n\n"
    assert payloads(raw) == [b"\nx"]


def test_event_name_lasts_for_one_event() -> None:
    raw = b"event: error\ndata: a\n\ndata: b\n\n"
    assert decode(raw) == [ServerSentEvent(b"a", "error"), ServerSentEvent(b"b")]


def test_event_without_data_is_dropped() -> None:
    assert decode(b"event: x\n\ndata: a\n\n") == [ServerSentEvent(b"a")]


# C06
def test_flush_gives_the_open_event() -> None:
    assert payloads(b"data: [DONE]") == [b"[DONE]"]
    assert payloads(b"data: a\n") == [b"a"]
    assert payloads(b"data: a\n\n") == [b"a"]


def test_separators_of_other_standards_are_text() -> None:
    text = "a\u2028b\u0085c\x0bd\x0ce\x1cf".encode()
    assert payloads(b"data: " + text + b"\n\n") == [text]


def test_line_too_long_is_refused_in_any_cut() -> None:
    raw = b"data: " + b"x" * 95 + b"\n\n"
    for first, second in cuts(raw):
        decoder = SSEDecoder(max_event_bytes=100)
        with pytest.raises(BadResponse):
            decoder.feed(first)
            decoder.feed(second)


def test_many_data_lines_too_long_are_refused() -> None:
    decoder = SSEDecoder(max_event_bytes=100)
    with pytest.raises(BadResponse):
        for _ in range(20):
            decoder.feed(b"data: 7\n")


def test_whole_events_come_before_one_too_long() -> None:
    decoder = SSEDecoder(max_event_bytes=20)
    assert decoder.feed(b"data: a\n\ndata: " + b"x" * 50) == [ServerSentEvent(b"a")]
    with pytest.raises(BadResponse):
        decoder.feed(b"data: b\n\n")
    with pytest.raises(BadResponse):
        decoder.flush()


def test_endless_comments_hold_no_memory() -> None:
    decoder = SSEDecoder(max_event_bytes=100)
    for _ in range(100):
        assert decoder.feed(b": ping\n") == []
    assert decoder.feed(b"data: a\n\n") == [ServerSentEvent(b"a")]


def test_long_line_in_small_reads_is_linear() -> None:
    # Joining anew for each read would copy 8 GiB.
    decoder, start = SSEDecoder(), time.process_time()
    decoder.feed(b"data: ")
    for _ in range(4 * 1024 - 1):
        decoder.feed(b"x" * 1024)
    [event] = decoder.feed(b"\n\n")
    assert len(event.data) == 4 * 1024 * 1024 - 1024
    assert time.process_time() - start < 1.0
