from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from sessions_app.domain.errors import BadResponse, ProviderOverloaded, StreamTruncated
from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady, UsagePart
from sessions_app.providers.anthropic.stream import MessageStream
from tests.fakes.outcomes import read_reply

FOLDER = Path(__file__).parent.parent / "fixtures" / "anthropic"

read = partial(read_reply, family=MessageStream)


def fixture(name: str) -> list[bytes]:
    return [(FOLDER / name).read_bytes()]


def test_real_stream() -> None:
    outcome = read(fixture("llama_stream.sse"))
    assert outcome.error is None
    assert outcome.text.startswith("Write one word about the sea")
    assert outcome.usage == UsagePart(30, 24, cached_tokens_in=0)
    assert outcome.finish == FinishPart(StopReason.LENGTH, model="gemma-270m")


def test_real_answer_without_stream() -> None:
    outcome = read(fixture("llama_plain.json"))
    assert len(outcome.deltas) == 1
    assert outcome.usage == UsagePart(30, 24, cached_tokens_in=25)


def test_no_replacement_mark_from_real_server() -> None:
    text = read(fixture("llama_multibyte.sse")).text
    assert "你好" in text
    assert "\ufffd" not in text


# C12: the twin of the other family
def test_calls_whose_arguments_alternate() -> None:
    outcome = read(fixture("parallel_tool_use.sse"))
    assert outcome.text == "Let me see."
    assert outcome.calls == [
        ToolCallReady("toolu_a", "add", {"x": 1}),
        ToolCallReady("toolu_b", "mul", {"y": 2}),
    ]
    assert outcome.finish == FinishPart(StopReason.STOP, True, "claude-x")


# C17
def test_thinking_stays_hidden() -> None:
    outcome = read(fixture("thinking.sse"))
    assert (outcome.text, outcome.reasoning) == ("Hi", "plan")


# C10 A
def test_error_first_leaves_no_trace() -> None:
    outcome = read(fixture("overloaded_first.sse"))
    assert outcome.deltas == []
    assert isinstance(outcome.error, ProviderOverloaded)
    assert outcome.error.status == 529


# C10 C
def test_text_comes_before_the_error() -> None:
    outcome = read(fixture("overloaded_after_text.sse"))
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, ProviderOverloaded)


# C60 C61
def test_cached_input_is_part_of_the_input() -> None:
    usage = read(fixture("cache_usage.sse")).usage
    assert usage == UsagePart(2000, 300, 1900, 0)


# C07
def test_reason_without_stop_event_completes() -> None:
    outcome = read(fixture("no_stop_event.sse"))
    assert outcome.finish == FinishPart(StopReason.STOP, model="claude-x")
    assert outcome.usage == UsagePart(25, 15)


# C07
def test_end_after_a_block_is_truncation() -> None:
    outcome = read(fixture("cut_after_block.sse"))
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, StreamTruncated)


# C19, C60 (5)
def test_unstorable_text_is_cleaned() -> None:
    outcome = read(fixture("unstorable.sse"))
    assert outcome.deltas == ["AB", "x\ufffdy", "好🙂"]
    assert outcome.usage.tokens_in == 7


# C11
@pytest.mark.parametrize(
    "body",
    [b"", b": ping\n\n", b"<html>", b"null", b"[]", b"{}", b"data: nothing\n\n"],
)
def test_body_without_a_message_is_a_failure(body: bytes) -> None:
    assert isinstance(read([body]).error, BadResponse)


# C15
def test_cut_call_cannot_be_run() -> None:
    raw = fixture("parallel_tool_use.sse")[0]
    outcome = read([raw.replace(b'"tool_use","stop_sequence"', b'"max_tokens","x"')])
    assert outcome.finish == FinishPart(StopReason.LENGTH, True, "claude-x")
    assert all(call.error for call in outcome.calls)


def test_refusal_is_a_content_filter() -> None:
    raw = fixture("no_stop_event.sse")[0].replace(b"end_turn", b"refusal")
    assert read([raw]).finish == FinishPart(StopReason.CONTENT_FILTER, model="claude-x")


def test_new_reason_is_unknown() -> None:
    raw = fixture("no_stop_event.sse")[0].replace(b"end_turn", b"bored")
    assert read([raw]).finish == FinishPart(StopReason.UNKNOWN, model="claude-x")
