from __future__ import annotations

from sessions_app.domain.transcript import StoredMessage, build_prompt


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
