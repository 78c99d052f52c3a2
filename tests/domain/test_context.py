from __future__ import annotations

import pytest

from sessions_app.domain.context import (
    UNKNOWN_WINDOW,
    fitting,
    room_for_prompt,
    window_of,
)
from sessions_app.domain.outcome import ToolCallRecord
from sessions_app.domain.prompt import PromptMessage
from sessions_app.domain.transcript import StoredMessage, build_prompt
from tests.fakes.strict_history import check_history

TOOL_CALL = ToolCallRecord("call_a", 1, 0, "weather", {"city": "Kiel"}, "completed")


def conversation(turns: int, size: int = 30) -> list[PromptMessage]:
    """A system prompt and turns that each asked a tool."""
    stored = []
    for turn in range(1, turns + 1):
        stored.append(StoredMessage("user", "q" * size, turn))
        stored.append(StoredMessage("assistant", "a" * size, turn))
    stored.append(StoredMessage("user", "the last", turns + 1))
    calls = {turn: [TOOL_CALL] for turn in range(1, turns + 1)}
    return build_prompt("Be kind.", stored, calls)


@pytest.mark.parametrize("room", range(0, 700, 7))
def test_history_stays_valid_however_little_fits(room: int) -> None:
    kept, left_out = fitting(conversation(9), room)
    assert (kept[0].role, kept[-1].content) == ("system", "the last")
    check_history(kept)
    assert len(kept) + len(left_out) == len(conversation(9))


def test_oldest_turns_go_first() -> None:
    kept, left_out = fitting(conversation(9), 300)
    assert {m.turn for m in left_out} == set(range(1, min(m.turn for m in kept[1:])))


def test_what_fits_is_left_as_it_is() -> None:
    whole = conversation(9)
    assert fitting(whole, 100_000) == (whole, ())


def test_last_question_stays_even_if_it_is_too_long() -> None:
    question = PromptMessage("user", "x" * 9000)
    assert fitting([question], 100)[0] == [question]


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", UNKNOWN_WINDOW),
        ("openai/gpt-4.1-mini", 1_047_576),
        ("my-own", UNKNOWN_WINDOW),
    ],
)
def test_window_goes_by_the_name(model: str, window: int) -> None:
    assert window_of(model) == window


def test_reply_and_tools_take_their_room() -> None:
    assert room_for_prompt(10_000, 1000) == 9000
    assert room_for_prompt(10_000, None) == 7500
    assert room_for_prompt(8_000, 100_000) == 6000
