"""Answers of every shape, for the parsers of all families."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from hypothesis import strategies as st

from sessions_app.domain.errors import ProviderError
from sessions_app.domain.parts import FinishPart, Part, TextPart, ToolCallReady
from sessions_app.providers.anthropic.stream import MessageStream
from sessions_app.providers.exec.lines import LineStream
from sessions_app.providers.openai.stream import ReplyStream
from sessions_app.providers.raw_text import TextStream

Parser = ReplyStream | MessageStream | TextStream | LineStream


def lines() -> LineStream:
    """The output of a command, one JSON object a line."""
    return LineStream("choices.0.delta.content")


FAMILIES: tuple[Callable[[], Parser], ...] = (
    ReplyStream,
    MessageStream,
    TextStream,
    lines,
)

KEYS = (
    "choices", "delta", "message", "content", "reasoning_content", "reasoning",
    "refusal", "tool_calls", "index", "id", "function", "name", "arguments",
    "finish_reason", "usage", "error", "code", "type", "model", "prompt_tokens",
    "completion_tokens", "total_tokens", "prompt_tokens_details", "cached_tokens",
    "completion_tokens_details", "reasoning_tokens", "content_block", "text",
    "thinking", "partial_json", "stop_reason", "input", "input_tokens",
    "output_tokens", "cache_read_input_tokens",
)  # fmt: skip
WORDS = (
    "", "stop", "length", "tool_calls", "content_filter", "error", "x", "<think>",
    "</think>", "<thi", " ", "\0", "\ud800", "{}", '{"a":1}', '{"a":', "[1]", "nul",
    "content_block_start", "content_block_delta", "message_start", "message_delta",
    "message_stop", "tool_use", "text", "end_turn", "overloaded_error", "429", "9" * 99,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**63, 10**30, 429, 1e308, float("inf"), float("nan"))
LEAVES = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(WORDS)


def _within(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(KEYS)
    return st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5)


VALUES = st.recursive(LEAVES, _within, max_leaves=12)
# Whole events of both families, with anything in their places.
CALLS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "index": st.sampled_from([0, 1, 0, "0", None]),
            "id": st.sampled_from(["", "a", "b", 3]),
            "function": st.fixed_dictionaries(
                {},
                optional={
                    "name": st.sampled_from(["f", "g", "", 1]),
                    "arguments": st.sampled_from(WORDS) | VALUES,
                },
            ),
        },
    ),
    max_size=3,
)
DELTAS = st.fixed_dictionaries(
    {}, optional={"content": LEAVES, "reasoning": LEAVES, "tool_calls": CALLS}
)
CHUNKS = st.fixed_dictionaries(
    {
        "choices": st.lists(
            st.fixed_dictionaries({"delta": DELTAS, "finish_reason": LEAVES}),
            max_size=2,
        )
    },
    optional={"usage": VALUES, "error": VALUES, "model": LEAVES},
)
MESSAGE_EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS[18:])},
    optional={
        "index": LEAVES,
        "delta": VALUES,
        "content_block": VALUES,
        "message": VALUES,
        "usage": VALUES,
        "error": VALUES,
    },
)


def as_event(value: Any) -> bytes:
    """A value as one event of a stream."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def as_document(value: Any) -> bytes:
    """A value as a whole body."""
    return json.dumps(value).encode()


NOISE = st.sampled_from(
    (b"data: [DONE]\n\n", b"event: error\n", b": ping\n", b"\r", b"\xef\xbb\xbf",
     b"data: {", b"<html>", b"  \n", b"data:\n\n", b"\xf0\x9f")
)  # fmt: skip
SHAPES = CHUNKS | MESSAGE_EVENTS | VALUES
EVENTS = SHAPES.map(as_event)
BODIES = (
    st.lists(EVENTS | NOISE | st.binary(max_size=20), max_size=8).map(b"".join)
    | VALUES.map(as_document)
    | st.lists(SHAPES.map(as_document), max_size=4).map(b"\n".join)
    | st.binary(max_size=200)
)
CUTS = st.lists(st.integers(0, 400), max_size=4)


def cut(raw: bytes, places: Iterable[int]) -> list[bytes]:
    """The bytes as reads that end at these places."""
    ends = [*sorted(place for place in places if place < len(raw)), len(raw)]
    return [raw[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def read_anything(family: Callable[[], Parser], reads: Iterable[bytes]) -> list[Part]:
    """All parts; raises what a parser must not raise, or gives what it must not."""
    parser, parts = family(), list[Part]()
    error: ProviderError | None = None
    try:
        for raw in reads:
            parts += parser.feed(raw)
            error = parser.error
            if error or getattr(parser, "is_done", False):
                break
        if not error:
            parts += parser.end()
            error = parser.error
    except ProviderError as raised:
        assert isinstance(parser, TextStream | LineStream)
        error = raised
    if isinstance(parser, ReplyStream | MessageStream):
        assert parser.is_done
    finishes = [part for part in parts if isinstance(part, FinishPart)]
    assert len(finishes) == (0 if error else 1)
    assert error or parts[-1] is finishes[0]
    for part in parts:
        _require_storable(part)
    return parts


def _require_storable(part: Part) -> None:
    """As it would be refused by a database or a reader otherwise."""
    if isinstance(part, TextPart):
        assert part.text and "\0" not in part.text
        part.text.encode()
    if isinstance(part, ToolCallReady):
        text = json.dumps(
            [part.call_id, part.name, part.arguments],
            ensure_ascii=False,
            allow_nan=False,
        )
        assert "\\u0000" not in text
        text.encode()
