"""The decoder against a slow reference that sees the whole stream at once."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.wire.sse_decoder import BOM, ServerSentEvent, SSEDecoder

PIECES = (
    b"data: ", b"data:", b"data", b"event: error", b"event:", b": ping", b"id: 1",
    b"x", b"{}", b" ", b":", b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", BOM,
    b"\xef", b"\xbb", "好".encode(), b"\x00", b"data: {}\n\n",
)  # fmt: skip
STREAMS = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)


def reference(raw: bytes) -> list[ServerSentEvent]:
    found: list[ServerSentEvent] = []
    lines: list[bytes] = []
    name = b""
    for line in [*re.split(rb"\r\n|\r|\n", raw.removeprefix(BOM)), b""]:
        if not line:
            if lines:
                found.append(
                    ServerSentEvent(b"\n".join(lines), name.decode("utf-8", "replace"))
                )
            lines, name = [], b""
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            lines.append(value)
        elif field == b"event":
            name = value
    return found


def reference_text(raw: bytes) -> list[tuple[bytes, str]]:
    return [(event.data, event.event) for event in reference(raw)]


@given(STREAMS, st.lists(st.integers(0, 200), max_size=8))
def test_any_cuts_equal_the_reference(raw: bytes, places: list[int]) -> None:
    decoder, found, start = SSEDecoder(), [], 0
    for place in sorted(place for place in places if place < len(raw)):
        found += decoder.feed(raw[start:place])
        start = place
    found += decoder.feed(raw[start:]) + decoder.flush()
    assert [(event.data, event.event) for event in found] == reference_text(raw)


@given(STREAMS)
def test_byte_by_byte_equals_the_reference(raw: bytes) -> None:
    decoder, found = SSEDecoder(), []
    for at in range(len(raw)):
        found += decoder.feed(raw[at : at + 1])
    found += decoder.flush()
    assert [(event.data, event.event) for event in found] == reference_text(raw)


@given(STREAMS)
def test_event_is_given_by_the_read_that_ends_it(raw: bytes) -> None:
    decoder = SSEDecoder()
    count = 0
    for at in range(len(raw)):
        count += len(decoder.feed(raw[at : at + 1]))
        if raw[at : at + 1] in b"\r\n":
            whole = SSEDecoder()
            assert count == len(whole.feed(raw[: at + 1]))
