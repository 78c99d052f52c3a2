"""Each call that a provider bills is booked once, whatever happens to the turn."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from django.db import DatabaseError

from sessions_app import service
from sessions_app.domain.errors import ProviderOverloaded
from sessions_app.domain.parts import (
    FinishPart,
    StopReason,
    TextPart,
    ToolCallReady,
    UsagePart,
)
from sessions_app.domain.prompt import ToolSpec
from sessions_app.models import Attempt, Provider, Turn
from sessions_app.store import db
from sessions_app.store import turns as turn_store
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from tests.engine.budgeting import give_budget, reserved, spent_tokens
from tests.engine.conftest import CALLER, Engine
from tests.fakes.scripted_provider import STOP, ScriptedProvider, Step, says
from tests.fakes.waiting import until

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


# What a turn had cost before a restart was gone once it ran again.
async def test_restart_keeps_what_failed_over_before_it(engine: Engine) -> None:
    await give_budget(tokens=1_000_000)
    fails: list[Step] = [UsagePart(2000, 300), ProviderOverloaded()]
    answers: list[Step] = [TextPart("Hi"), UsagePart(10, 1), STOP]
    provider = ScriptedProvider(fails, [asyncio.Event()], answers)
    posted = await restart(engine, provider)
    # The one that was cut off counts its prompt, five characters, as when cancelled.
    assert await booked(posted) == ([(2000, 300), (2, 0), (10, 1)], 2313)
    assert (await spent_tokens(), await reserved()) == ([2313], [])


async def test_restart_keeps_what_the_memory_cost(engine: Engine) -> None:
    await fill_window(engine)
    await give_budget(tokens=1_000_000)
    summary: list[Step] = [TextPart("They sell boats."), UsagePart(200, 6), STOP]
    answers: list[Step] = [TextPart("Hi"), UsagePart(10, 1), STOP]
    provider = ScriptedProvider(summary, [asyncio.Event()], answers)
    posted = await restart(engine, provider)
    (memory, cut_off, answered), total = await booked(posted)
    assert (memory, answered) == ((200, 6), (10, 1))
    assert total == 217 + sum(cut_off)
    assert (await spent_tokens(), await reserved()) == ([total], [])


async def restart(engine: Engine, provider: ScriptedProvider) -> PostedTurn:
    """A turn whose server is stopped at its second request, and started again."""
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await until(lambda: len(provider.requests) == 2)
    await host.close(0.0)
    host = await engine.host(provider)
    host.begin(posted.turn_id)
    assert (await engine.events(posted))[-3][1]["text"] == "Hi"
    return posted


async def fill_window(engine: Engine) -> None:
    """Four turns that leave no room for a fifth, of an agent with a memory."""
    engine.agent.memory = True
    await in_thread(engine.agent.save)
    await in_thread(lambda: Provider.objects.update(context_tokens=1200))
    for _ in range(4):
        await engine.run(ScriptedProvider(says("a" * 300)), "q" * 300)
