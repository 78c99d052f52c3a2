from __future__ import annotations

from sessions_app.domain.outcome import ToolCallRecord
from sessions_app.domain.transcript import LOST_RESULT, StoredMessage, build_prompt
from tests.fakes.strict_history import check_history


def roles(*messages: tuple[str, str]) -> list[tuple[str, str]]:
    stored = [StoredMessage(role, text) for role, text in messages]  # type: ignore[arg-type]
    return [(m.role, m.content) for m in build_prompt("", stored)]


# C37
def test_empty_text_is_left_out() -> None:
    found = roles(("user", "a"), ("assistant", ""), ("user", "b"))
    assert found == [("user", "a\n\nb")]


def test_questions_of_failed_turns_become_one() -> None:
    assert roles(("user", "a"), ("user", "b")) == [("user", "a\n\nb")]


def test_prompt_never_begins_with_the_assistant() -> None:
    assert roles(("assistant", "x"), ("user", "a")) == [("user", "a")]


def test_system_prompt_comes_first() -> None:
    prompt = build_prompt("Be kind.", [StoredMessage("user", "a")])
    assert [m.role for m in prompt] == ["system", "user"]


def test_blank_system_prompt_is_left_out() -> None:
    assert [m.role for m in build_prompt(" ", [StoredMessage("user", "a")])] == ["user"]


def with_calls(*calls: ToolCallRecord) -> list[tuple[str, str]]:
    """A turn with these calls and a reply, and the question after it."""
    stored = [
        StoredMessage("user", "a", 1),
        StoredMessage("assistant", "b", 1),
        StoredMessage("user", "c", 2),
    ]
    prompt = build_prompt("", stored, {1: calls})
    check_history(prompt)
    return [(m.role, m.content) for m in prompt]


def test_calls_stand_before_their_reply() -> None:
    first = ToolCallRecord("x", 1, 0, "f", {}, "completed", "one")
    second = ToolCallRecord("x", 2, 0, "f", {}, "failed", error="no")
    assert with_calls(first, second) == [
        ("user", "a"),
        ("assistant", ""),
        ("tool", "one"),
        ("assistant", ""),
        ("tool", "Error: no"),
        ("assistant", "b"),
        ("user", "c"),
    ]


# C37: the second of two calls never came to a result
def test_call_without_a_result_gets_an_error_for_one() -> None:
    done = ToolCallRecord("x", 1, 0, "f", {}, "completed", "one")
    lost = ToolCallRecord("y", 1, 1, "f", {}, "started")
    assert with_calls(done, lost)[2:4] == [("tool", "one"), ("tool", LOST_RESULT)]


def test_calls_of_a_turn_without_a_reply_are_left_out() -> None:
    stored = [StoredMessage("user", "a", 1), StoredMessage("user", "c", 2)]
    call = ToolCallRecord("x", 1, 0, "f", {}, "started")
    prompt = build_prompt("", stored, {1: [call]})
    assert [(m.role, m.content) for m in prompt] == [("user", "a\n\nc")]
