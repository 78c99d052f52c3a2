from __future__ import annotations

import pytest

from sessions_app.domain.errors import BadResponse
from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady
from tests.fakes.openai_events import DONE, call, calls, finish, text
from tests.fakes.outcomes import Outcome, read_reply


def reply(*events: bytes, word: str = "tool_calls") -> Outcome:
    return read_reply([*events, finish(word), DONE])


# C12
def test_interleaved_fragments_keep_their_calls() -> None:
    outcome = reply(
        calls(call("", index=0, id="a", name="add")),
        calls(call("", index=1, id="b", name="mul")),
        calls(call('{"x":', index=0)),
        calls(call('{"y":2', index=1)),
        calls(call("1}", index=0), call("}", index=1)),
    )
    assert outcome.calls == [
        ToolCallReady("a", "add", {"x": 1}),
        ToolCallReady("b", "mul", {"y": 2}),
    ]
    assert outcome.finish == FinishPart(StopReason.STOP, is_tool_calls=True)


# C13
def test_new_id_at_same_index_opens_a_call() -> None:
    outcome = reply(
        calls(call('{"p":1}', index=0, id="a", name="f")),
        calls(call('{"p":2}', index=0, id="b", name="f")),
    )
    assert [each.arguments for each in outcome.calls] == [{"p": 1}, {"p": 2}]
    assert [each.call_id for each in outcome.calls] == ["a", "b"]


# C13
def test_ids_without_index_are_two_calls() -> None:
    first, second = call('{"p":1}', id="a", name="f"), call('{"p":2}', id="b", name="f")
    outcome = reply(calls(first, second))
    assert [each.arguments for each in outcome.calls] == [{"p": 1}, {"p": 2}]


# C13
def test_missing_ids_are_made_up() -> None:
    outcome = reply(
        calls(call('{"p"', index=0, name="f")),
        calls(call(":1}", index=0)),
        calls(call("{}", index=1, name="g")),
    )
    assert outcome.calls == [
        ToolCallReady("made_1", "f", {"p": 1}),
        ToolCallReady("made_2", "g", {}),
    ]


# C13
@pytest.mark.parametrize("index", [0, None])
def test_repeated_id_and_name_are_one_call(index: int | None) -> None:
    pieces = ("", '{"q":', '"x"', "}", "")
    entries = [call(each, index=index, id="a", name="search") for each in pieces]
    outcome = reply(*[calls(entry) for entry in entries])
    assert outcome.calls == [ToolCallReady("a", "search", {"q": "x"})]


@pytest.mark.parametrize("index", [0, None])
def test_whole_calls_without_ids_stay_apart(index: int | None) -> None:
    outcome = reply(
        calls(call('{"p":1}', index=index, name="f")),
        calls(call('{"p":2}', index=index, name="f")),
    )
    assert [each.arguments for each in outcome.calls] == [{"p": 1}, {"p": 2}]


def test_fragments_without_index_or_id_join() -> None:
    outcome = reply(calls(call('{"p"', name="f", id="a")), calls(call(":1}")))
    assert outcome.calls == [ToolCallReady("a", "f", {"p": 1})]


def test_same_id_at_two_indices_is_two_calls() -> None:
    outcome = reply(
        calls(call("{}", index=0, id="x", name="f")),
        calls(call("{}", index=1, id="x", name="g")),
    )
    assert [each.call_id for each in outcome.calls] == ["x", "made_1"]


# C15
@pytest.mark.parametrize("word", ["stop", "something_new"])
def test_whole_call_runs_after_other_finish(word: str) -> None:
    outcome = reply(calls(call('{"a":1}', index=0, id="a", name="f")), word=word)
    assert outcome.calls == [ToolCallReady("a", "f", {"a": 1})]
    assert outcome.finish is not None
    assert outcome.finish.is_tool_calls


# C15
@pytest.mark.parametrize("arguments", ['{"amount": 10', '{"amount":10}'])
def test_cut_call_carries_an_error(arguments: str) -> None:
    entry = call(arguments, index=0, id="a", name="pay")
    outcome = reply(text("Paying"), calls(entry), word="length")
    [found] = outcome.calls
    assert found.error
    assert found.arguments == {}
    assert outcome.finish == FinishPart(StopReason.LENGTH, is_tool_calls=True)


# C07
def test_call_is_lost_with_its_stream() -> None:
    outcome = read_reply([calls(call("{}", index=0, id="a", name="f"))])
    assert outcome.calls == []
    assert outcome.error is not None


@pytest.mark.parametrize("arguments", ["{oops", "[1]", "7", '"x"'])
def test_arguments_that_are_no_object_carry_an_error(arguments: str) -> None:
    [found] = reply(calls(call(arguments, index=0, id="a", name="f"))).calls
    assert found.error
    assert found.arguments == {}


@pytest.mark.parametrize("arguments", ["", " ", "null", "{}"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    [found] = reply(calls(call(arguments, index=0, id="a", name="f"))).calls
    assert found == ToolCallReady("a", "f", {})


# C19
def test_nul_and_surrogates_leave_the_arguments() -> None:
    entry = call('{"k\\u0000":["A\\u0000B","\\ud800"]}', index=0, id="a", name="f")
    [found] = reply(calls(entry)).calls
    assert found.arguments == {"k": ["AB", "\ufffd"]}


def test_arguments_as_an_object_are_taken() -> None:
    entry = {"id": "a", "function": {"name": "f", "arguments": {"p": 1}}}
    assert reply(calls(entry)).calls == [ToolCallReady("a", "f", {"p": 1})]


def test_nonsense_entries_are_skipped() -> None:
    raw = calls(None, 3, {"function": None}, {})  # type: ignore[arg-type]
    [found] = reply(raw).calls
    assert found.error


def test_too_many_calls_are_refused() -> None:
    entries = [call("{}", index=at, id=f"c{at}", name="f") for at in range(200)]
    assert isinstance(reply(calls(*entries)).error, BadResponse)
