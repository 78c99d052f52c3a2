"""Each call that a provider bills is booked once, whatever happens to the turn."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.errors import ProviderOverloaded
from sessions_app.domain.outcome import AttemptRecord, ToolCallRecord
from sessions_app.domain.parts import (
    FinishPart,
    StopReason,
    TextPart,
    ToolCallReady,
    UsagePart,
)
from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.usage import Usage
from sessions_app.engine.sweeper import sweep
from sessions_app.models import Attempt, Price, Provider, Turn
from sessions_app.store import db
from sessions_app.store import turns as turn_store
from sessions_app.store.claim import claim
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


# What earlier rounds had shown, and their tools, was billed again with the lost call.
async def test_crash_counts_what_the_lost_call_has_shown(engine: Engine) -> None:
    engine.agent.tools, engine.agent.stream_last_round = ["current_time"], True
    await in_thread(engine.agent.save)
    await give_budget(tokens=1_000_000)
    asks = [*[TextPart("x")] * 9, ToolCallReady("call_1", "current_time"), *ASKS[1:]]
    provider = ScriptedProvider(asks, [*[TextPart("y")] * 4, asyncio.Event()])
    posted = await crash(engine, provider, deltas=13)
    assert await booked(posted) == ([(2000, 300), (2, 4)], 2306)
    assert (await spent_tokens(), await reserved()) == ([2306], [])


async def test_crash_in_a_tool_costs_what_was_booked(engine: Engine) -> None:
    engine.agent.stream_last_round = True
    await in_thread(engine.agent.save)
    await give_budget(tokens=1_000_000)
    posted = await engine.post(client_tools=(PAGE,))
    work = await in_thread(claim, posted.turn_id, "dead")
    assert work is not None
    await in_thread(turn_store.mark_first_delta, work, "primary/gpt-x", 3, ())
    usage = Usage(2000, 300)
    record = AttemptRecord(1, 1, "primary", "gpt-x", "completed", usage, 5)
    call = ToolCallRecord("call_1", 1, 0, "page", {})
    args = (work.turn_id, work.fence, [call], [record], ["x"], 4)
    assert await in_thread(turn_store.start_tools, *args)
    await leave(posted)
    assert await booked(posted) == ([(2000, 300)], 2300)
    assert (await spent_tokens(), await reserved()) == ([2300], [])


async def test_crash_is_billed_by_who_was_asked(engine: Engine) -> None:
    update = Price.objects.filter(provider__name="backup").update
    await in_thread(update, input=5, output=10)
    fails: list[Step] = [UsagePart(2000, 300), ProviderOverloaded()]
    provider = ScriptedProvider(fails, [*[TextPart("y")] * 4, asyncio.Event()])
    posted = await crash(engine, provider, deltas=4)
    assert await booked(posted) == ([(2000, 300), (2, 4)], 2306)
    lost = await in_thread(Attempt.objects.get, number=2)
    assert (lost.provider, lost.model) == ("backup", "claude-y")
    assert (lost.error_code, lost.cost_usd) == ("worker_lost", Decimal("0.00005"))


async def crash(engine: Engine, provider: ScriptedProvider, deltas: int) -> PostedTurn:
    """A turn whose process is gone after so many deltas, as the sweeper finds it."""
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta", deltas)
    await leave(posted)
    return posted


async def leave(posted: PostedTurn) -> None:
    past = timezone.now() - timedelta(minutes=1)
    await in_thread(Turn.objects.filter(pk=posted.turn_id).update, lease_until=past)
    await sweep(get_bus(), None)


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
