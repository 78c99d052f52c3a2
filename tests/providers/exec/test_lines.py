from __future__ import annotations

import pytest

from sessions_app.domain.errors import BadResponse, StreamTruncated
from sessions_app.domain.parts import FinishPart, StopReason, TextPart
from sessions_app.providers.exec.lines import MAX_LINE_BYTES, LineStream

PATH = "choices.0.text"
RAW = (
    '\ufeff{"choices":[{"text":"Grüße, "}]}\r\n'
    '\n{"model":"x"}\n{"choices":[]}\n{"choices":[{"text":null}]}\n7\n'
    '{"choices":[{"text":"好 🙂\\u0000\\ud800"}]}\n'
    '{"choices":[{"text":""}]}\n{"choices":[{"text":"!"}]}'
).encode()
FINISH = FinishPart(StopReason.UNKNOWN)


def parts_of(*reads, path=PATH):
    stream = LineStream(path)
    parts = [part for raw in reads for part in stream.feed(raw)]
    assert stream.error is None
    return [*parts, *stream.end()]


def test_every_cut_gives_the_same_text() -> None:
    whole = parts_of(RAW)
    texts = ["Grüße, ", "好 🙂\ufffd", "!"]
    assert whole == [*map(TextPart, texts), FINISH]
    assert parts_of(*(bytes([byte]) for byte in RAW)) == whole
    for cut in range(len(RAW) + 1):
        assert parts_of(RAW[:cut], RAW[cut:]) == whole


def test_invalid_bytes_become_marks() -> None:
    assert parts_of(b'{"text":"A\xff\xe5B"}\n', path="text")[0] == TextPart(
        "A\ufffd\ufffdB"
    )


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("text", b'{"text":"A"}'),
        ("a.b.c", b'{"a":{"b":{"c":"A"}}}'),
        ("a.1", b'{"a":["x","A"]}'),
        ("0", b'["A"]'),
        ("7", b'{"7":"A"}'),
    ],
)
def test_path_leads_to_the_text(path: str, line: bytes) -> None:
    assert parts_of(line + b"\n", path=path) == [TextPart("A"), FINISH]


@pytest.mark.parametrize("line", [b"{", b"oops", b"[" * 100_000, b'{"text":"A"} x'])
def test_line_that_is_not_json_is_bad_after_its_forerunners(line: bytes) -> None:
    stream = LineStream("text")
    assert stream.feed(b'{"text":"Hel"}\n' + line + b"\n") == [TextPart("Hel")]
    assert isinstance(stream.error, BadResponse)


def test_line_without_end_is_too_long() -> None:
    stream = LineStream("text")
    for _ in range(MAX_LINE_BYTES // 65_536):
        assert stream.feed(b"x" * 65_536) == []
        assert stream.error is None
    stream.feed(b"x")
    assert isinstance(stream.error, BadResponse)


def test_end_within_a_line_is_a_truncation() -> None:
    stream = LineStream("text")
    stream.feed(b'{"text":"Hel"}\n{"text":"l')
    with pytest.raises(StreamTruncated):
        stream.end()


@pytest.mark.parametrize("raw", [b"", b"\n\n", b'{"other":"A"}\n', b'{"text":7}\n'])
def test_no_text_is_no_answer(raw: bytes) -> None:
    stream = LineStream("text")
    stream.feed(raw)
    with pytest.raises(BadResponse):
        stream.end()
