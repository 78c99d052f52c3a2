"""Each call that a provider bills is booked once, whatever happens to the turn."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from django.db import DatabaseError

from sessions_app import service
from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady, UsagePart
from sessions_app.domain.prompt import ToolSpec
from sessions_app.models import Attempt, Turn
from sessions_app.store import db
from sessions_app.store import turns as turn_store
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from tests.engine.budgeting import give_budget, reserved, spent_tokens
from tests.engine.conftest import CALLER, Engine
from tests.fakes.scripted_provider import ScriptedProvider, Step

PAGE = ToolSpec("page", "", {"type": "object"})
ASKS: list[Step] = [
    ToolCallReady("call_1", "page"),
    UsagePart(2000, 300),
    FinishPart(StopReason.STOP, is_tool_calls=True),
]


async def booked(posted: PostedTurn) -> tuple[list[tuple[int, int]], int]:
    """The tokens of each attempt, in and out, and those of the turn together."""
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    rows = Attempt.objects.filter(turn=turn).order_by("number")
    tokens = rows.values_list("tokens_in", "tokens_out")
    return await in_thread(lambda: list(tokens)), turn.tokens_in + turn.tokens_out


# The book took attempts for stored before the write that was to store them succeeded.
async def test_round_whose_write_fails_is_booked_at_the_end(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> bool:
        raise DatabaseError("locked")

    await give_budget(tokens=1_000_000)
    monkeypatch.setattr(turn_store, "start_tools", fails)
    host = await engine.host(ScriptedProvider(ASKS))
    posted = await engine.post(client_tools=(PAGE,))
    host.begin(posted.turn_id)
    assert (await engine.events(posted))[-3][1]["code"] == "storage"
    assert await booked(posted) == ([(2000, 300)], 2300)
    assert (await spent_tokens(), await reserved()) == ([2300], [])


@pytest.mark.parametrize("is_written_first", [True, False])
async def test_round_whose_write_is_not_waited_for_is_booked_once(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, is_written_first: bool
) -> None:
    start_tools = turn_store.start_tools
    is_at_it, may_return = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(*args: Any) -> bool:
        is_held = is_written_first and start_tools(*args)
        loop.call_soon_threadsafe(is_at_it.set)
        may_return.wait(5)
        return is_held or start_tools(*args)

    await give_budget(tokens=1_000_000)
    monkeypatch.setattr(turn_store, "start_tools", slow)
    host = await engine.host(ScriptedProvider(ASKS))
    posted = await engine.post(client_tools=(PAGE,))
    host.begin(posted.turn_id)
    await is_at_it.wait()
    await in_thread(service.cancel_turn, CALLER, engine.session.pk, posted.turn_id)
    host.cancel(posted.turn_id)
    events = await engine.events(posted)
    may_return.set()
    await db.quiet()
    assert events[-3][1]["stopReason"] == "cancelled"
    assert await booked(posted) == ([(2000, 300)], 2300)
    assert (await spent_tokens(), await reserved()) == ([2300], [])
