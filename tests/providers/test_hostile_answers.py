"""No answer of a provider raises but a provider's error, costs more than its length,
or takes more memory than the caps say."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.domain.errors import BadResponse, ProviderError
from sessions_app.providers.anthropic.stream import MessageStream
from sessions_app.providers.openai.stream import ReplyStream
from sessions_app.providers.raw_text import TextStream
from sessions_app.providers.tool_calls import ToolCallAssembler
from sessions_app.wire.sse_decoder import SSEDecoder
from tests.fakes.openai_events import delta
from tests.providers.hostile import (
    BODIES,
    CALLS,
    CUTS,
    FAMILIES,
    VALUES,
    Parser,
    as_event,
    cut,
    read_anything,
)

MIB = 1024 * 1024
FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.__name__)


@FAMILY
@settings(max_examples=100, deadline=None)
@given(raw=BODIES, places=CUTS)
def test_any_answer_ends_in_a_finish_or_a_provider_error(
    family: Callable[[], Parser], raw: bytes, places: list[int]
) -> None:
    read_anything(family, cut(raw, places))


@settings(max_examples=100, deadline=None)
@given(st.lists(CALLS | st.lists(VALUES, max_size=3), max_size=5), st.booleans())
def test_any_calls_become_whole_ones(deltas: list[list[Any]], is_cut: bool) -> None:
    calls = ToolCallAssembler()
    for entries in deltas:
        calls.add(entries)
    ready = calls.ready(is_cut=is_cut)
    assert len({call.call_id for call in ready}) == len(ready)
    assert all(call.name and isinstance(call.arguments, dict) for call in ready)
    assert not is_cut or all(call.error and not call.arguments for call in ready)


@settings(max_examples=100, deadline=None)
@given(BODIES, CUTS, st.integers(1, 40))
def test_decoder_raises_nothing_but_that_it_is_too_long(
    raw: bytes, places: list[int], cap: int
) -> None:
    decoder = SSEDecoder(max_event_bytes=cap)
    try:
        for read in cut(raw, places):
            assert all(len(each.data) <= cap for each in decoder.feed(read))
        decoder.flush()
    except BadResponse as error:
        assert "exceeds" in error.diagnosis


# A number of 5,000 digits, a tree of 900 levels and an unfinished tree of 5,000 each
# raised an error that nobody caught.
DEEP = '{"a":' + "[" * 900 + "]" * 900 + "}"
ESCAPES = [
    as_event({"error": {"code": "1" * 5000}}),
    delta(tool_calls=[{"index": 0, "function": {"name": "f", "arguments": DEEP}}]),
    delta(tool_calls=[{"function": {"name": "f", "arguments": json.loads(DEEP)}}]),
    delta(tool_calls=[{"function": {"name": "f", "arguments": {"a": "\ud800"}}}]),
    as_event(
        {
            "type": "content_block_start",
            "content_block": {"type": "tool_use", "input": json.loads(DEEP)},
        }
    ),
    b"data: " + b"[" * 5000,
    *(
        b'data: {"error":{"message":"x","code":' + b"[" * n + b"]" * n + b"}}\n\n"
        for n in range(700, 1000, 7)
    ),
]


@FAMILY
def test_what_once_escaped_is_a_provider_error(family: Callable[[], Parser]) -> None:
    for raw in ESCAPES:
        read_anything(family, [raw])
        read_anything(family, [raw, delta("tool_calls"), as_event({})])


def test_call_that_is_nested_too_deeply_is_refused_alone() -> None:
    calls = ToolCallAssembler()
    for index, arguments in enumerate((DEEP, json.loads(DEEP), '{"a":NaN}')):
        function = {"name": "f", "arguments": arguments}
        calls.add([{"index": index, "id": f"c{index}", "function": function}])
    text, tree, number = calls.ready(is_cut=False)
    assert text.error == tree.error == "The arguments are nested too deeply."
    assert (number.error, number.arguments) == ("", {"a": None})


def call(arguments: str) -> bytes:
    return delta(
        tool_calls=[{"index": 0, "function": {"name": "f", "arguments": arguments}}]
    )


def block(**fields: Any) -> bytes:
    return as_event({"type": "content_block_delta", "delta": fields})


# What comes first, and what then comes again and again.
ENDLESS: dict[str, tuple[Callable[[], Parser], bytes, bytes]] = {
    "line": (ReplyStream, b"data: ", b"x" * 1024),
    "data lines": (ReplyStream, b"data: x\n", b"data: xx\n" * 100),
    "comments": (ReplyStream, b": x\n\n", b": keep-alive\n\n" * 50),
    "comment": (ReplyStream, b": ", b"x" * 1024),
    "blanks": (ReplyStream, b"", b" " * 1024),
    "empty lines": (ReplyStream, b"", b"\n" * 1024),
    "document": (ReplyStream, b'{"x":"', b"x" * 1024),
    "spaces": (ReplyStream, b"", delta(content=" " * 200)),
    "half tags": (ReplyStream, delta(content="x"), delta(content="<thin" * 40)),
    "thoughts": (ReplyStream, delta(content="<think>"), delta(content="</th" * 40)),
    "arguments": (ReplyStream, call('{"a":"'), delta(
        tool_calls=[{"index": 0, "function": {"arguments": "x" * 200}}]
    )),
    "named arguments": (ReplyStream, call('{"a":"'), call("x" * 200)),
    "small fragments": (ReplyStream, call("{"), delta(
        tool_calls=[{"index": 0, "function": {"arguments": "x"}}] * 100
    )),
    "named trees": (ReplyStream, call('{"a":['), call("{}," * 60)),
    "blocks": (MessageStream, b"", block(text=" " * 200)),
    "partial JSON": (MessageStream, as_event(
        {"type": "content_block_start", "content_block": {"type": "tool_use"}}
    ), block(partial_json="x" * 200)),
    "text": (TextStream, b"x", b"\xf0\x9f" * 100),
}  # fmt: skip


def fed(name: str, count: int) -> tuple[Parser, float]:
    family, first, again = ENDLESS[name]
    parser, begun = family(), time.process_time()
    parser.feed(first)
    for _ in range(count):
        parser.feed(again)
    return parser, time.process_time() - begun


@pytest.mark.parametrize("name", ENDLESS)
def test_time_is_linear_in_what_came(name: str) -> None:
    # Four times as much took 11 to 60 times as long where something was joined, or
    # parsed, anew for each read.
    once = min(fed(name, 500)[1] for _ in range(3))
    four = min(fed(name, 2000)[1] for _ in range(2))
    assert four < max(8 * once, 0.02)


@pytest.mark.parametrize("name", ENDLESS)
def test_memory_is_what_is_held_and_no_more(name: str) -> None:
    tracemalloc.start()
    try:
        fed(name, 1000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Text is kept at four bytes a character, and grows by steps.
    assert peak < 6 * 1000 * len(ENDLESS[name][2]) + MIB


@pytest.mark.parametrize("unit", [b"x" * 1024, b"xy"], ids=["1 KiB", "2 bytes"])
def test_line_beyond_the_cap_is_let_go_of(unit: bytes) -> None:
    cap = MIB // 4
    decoder = SSEDecoder(max_event_bytes=cap)
    tracemalloc.start()
    try:
        decoder.feed(b"data: ")
        with pytest.raises(BadResponse):
            for _ in range(2 * cap // len(unit)):
                decoder.feed(unit)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * cap
    assert held < 0.1 * cap


def read_line(size: int) -> float:
    decoder, begun = SSEDecoder(max_event_bytes=8 * MIB), time.process_time()
    decoder.feed(b"data: ")
    for _ in range(size // 1024):
        decoder.feed(b"x" * 1024)
    [event] = decoder.feed(b"\n\n")
    assert len(event.data) == size
    return time.process_time() - begun


def test_line_of_four_mebibytes_takes_four_times_one() -> None:
    one = min(read_line(MIB) for _ in range(3))
    assert min(read_line(4 * MIB) for _ in range(3)) < max(10 * one, 0.05)


@pytest.mark.parametrize("unit", ["x", "xx", "好"])
def test_arguments_end_at_their_cap(unit: str) -> None:
    reply = ReplyStream()
    raw = delta(tool_calls=[{"index": 0, "function": {"arguments": unit * 65_536}}])
    for _ in range(70):
        reply.feed(raw)
    error: ProviderError | None = reply.error
    assert isinstance(error, BadResponse) and "too long" in error.diagnosis
