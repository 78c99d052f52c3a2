"""Turns whose process stops between asking for calls and beginning to wait for them.

The round was committed and the calls were not announced. The next run asked the model
again, could not store the same calls twice, and ended in an error; or it went on after
events that nobody had shown.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.utils import timezone

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.cursor import Cursor
from sessions_app.engine.host import TurnHost
from sessions_app.engine.sweeper import sweep
from sessions_app.engine.turn import StopCause
from sessions_app.models import Attempt, ToolCall, Turn
from sessions_app.store import progress
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from sessions_app.store.progress import ToolResult
from tests.engine.conftest import CALLER, Engine
from tests.engine.test_waiting import PAGE, asks
from tests.fakes.scripted_provider import ScriptedProvider, says
from tests.fakes.waiting import until

SHOWN = [
    "session.status_running",
    "turn_started",
    "tool_call_requested",
    "turn_awaiting_tools",
]
END = ["message_completed", "agent.message", "session.status_idle"]


class Gap:
    """A turn that is held before, or after, its wait is committed."""

    def __init__(self, engine: Engine, provider: ScriptedProvider) -> None:
        self.engine = engine
        self.provider = provider
        self._is_reached = asyncio.Event()
        self._go_on = threading.Event()
        self._is_dead = False

    def hold(self, *, after: bool) -> Callable[..., bool]:
        """The commit of the wait, held before it or after it."""
        loop, begin_wait = asyncio.get_running_loop(), progress.begin_wait

        def held(*arguments: Any) -> bool:
            came = begin_wait(*arguments) if after else None
            loop.call_soon_threadsafe(self._is_reached.set)
            self._go_on.wait(5)
            if came is None and not self._is_dead:
                came = begin_wait(*arguments)
            return bool(came)

        return held

    async def reach(self, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> Gap:
        self.host = await self.engine.host(self.provider)
        self.posted = await self.engine.post("Where am I?", client_tools=(PAGE,))
        with monkeypatch.context() as patched:
            patched.setattr(progress, "begin_wait", self.hold(after=after))
            self.host.begin(self.posted.turn_id)
            await self._is_reached.wait()
        return self

    async def stop(self, cause: StopCause) -> None:
        """Stop the run; the query that it waits for comes to its end later."""
        run = self.host._runs[self.posted.turn_id]
        run.stop(cause)
        await asyncio.wait([run.task], timeout=0.2)
        self.let_go()
        await run.task

    async def crash(self) -> None:
        """Stop the run, whose query never comes if it had not come yet."""
        self._is_dead = True
        await self.stop(StopCause.CLAIM_LOST)

    def let_go(self) -> None:
        self._go_on.set()

    async def turn(self) -> Turn:
        return await in_thread(Turn.objects.get, pk=self.posted.turn_id)

    async def run_again(self) -> TurnHost:
        second = await self.engine.host(self.provider)
        second.begin(self.posted.turn_id)
        return second

    async def answer(self, host: TurnHost, results: dict[str, str]) -> None:
        sent = [ToolResult(call_id, content) for call_id, content in results.items()]
        session_id, turn_id = self.posted.session_id, self.posted.turn_id
        send = service.send_tool_results
        await in_thread(send, CALLER, session_id, turn_id, sent)
        await until(lambda: turn_id not in host.running)
        host.begin(turn_id)

    async def require_kinds(self, expected: list[str]) -> None:
        """What readers saw, without a hole in the numbers."""
        kinds = [kind for kind, _ in await self.engine.events(self.posted)]
        assert kinds == expected
        assert await numbers(self.posted) == list(range(1, len(kinds) + 1))


async def numbers(posted: PostedTurn) -> list[int]:
    start = Cursor(posted.ordinal, 0)
    entries = await get_bus().log.read(posted.session_id, start, start.turn - 1)
    return [entry.cursor.n for entry in entries]


def gap_of(engine: Engine) -> Gap:
    return Gap(engine, ScriptedProvider(asks("page"), says("Home")))


async def lose_lease(gap: Gap) -> None:
    past = timezone.now() - timedelta(minutes=1)
    turns = Turn.objects.filter(pk=gap.posted.turn_id)
    await in_thread(turns.update, lease_until=past)


async def leave_by_shutdown(gap: Gap) -> None:
    await gap.stop(StopCause.SHUTDOWN)


async def leave_by_crash(gap: Gap) -> None:
    await gap.crash()
    if (await gap.turn()).state == "running":
        await lose_lease(gap)
        assert await sweep(get_bus(), None) == [gap.posted.turn_id]


LEAVINGS = pytest.mark.parametrize("leave", [leave_by_shutdown, leave_by_crash])
AFTER = pytest.mark.parametrize("after", [False, True])


@LEAVINGS
@AFTER
async def test_next_run_waits_for_the_calls_that_stand(
    engine: Engine, monkeypatch: Any, leave: Callable[..., Any], after: bool
) -> None:
    gap = await gap_of(engine).reach(monkeypatch, after=after)
    await leave(gap)
    second = await gap.run_again()
    await until_waiting(gap)
    await gap.answer(second, {"call_0": "home"})
    await gap.require_kinds([*SHOWN, "tool_call_completed", *END])
    assert [len(request.messages) for request in gap.provider.requests] == [1, 3]
    assert await in_thread(ToolCall.objects.count) == 1
    turn = await gap.turn()
    attempts = await in_thread(lambda: list(Attempt.objects.order_by("number")))
    assert [attempt.number for attempt in attempts] == [1, 2]
    assert turn.tokens_in == sum(attempt.tokens_in for attempt in attempts)


async def until_waiting(gap: Gap) -> None:
    async with asyncio.timeout(5):
        while (await gap.turn()).state != "awaiting_tools":  # noqa: ASYNC110
            await asyncio.sleep(0.005)


@LEAVINGS
async def test_gap_of_a_later_round_loses_nothing(
    engine: Engine, monkeypatch: Any, leave: Callable[..., Any]
) -> None:
    provider = ScriptedProvider(asks("page"), asks("page", "page"), says("Home"))
    gap = Gap(engine, provider)
    first = await engine.host(provider)
    gap.posted = await engine.post("Where am I?", client_tools=(PAGE,))
    first.begin(gap.posted.turn_id)
    await until_waiting(gap)
    await until(lambda: not first.running)
    await first_round_answered(gap, monkeypatch)
    await leave(gap)
    second = await gap.run_again()
    await until_waiting(gap)
    calls = await in_thread(lambda: list(ToolCall.objects.filter(round=2)))
    await gap.answer(second, {call.call_id: "there" for call in calls})
    asked = ["tool_call_requested"] * 2
    told = ["tool_call_completed"] * 2
    expected = [*SHOWN, "tool_call_completed", *asked, SHOWN[-1], *told, *END]
    await gap.require_kinds(expected)
    assert len(provider.requests) == 3


async def first_round_answered(gap: Gap, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process takes up the turn, and stops in the gap of round 2."""
    gap.host = await gap.engine.host(gap.provider)
    with monkeypatch.context() as patched:
        patched.setattr(progress, "begin_wait", gap.hold(after=False))
        await gap.answer(gap.host, {"call_0": "home"})
        await gap._is_reached.wait()


@AFTER
async def test_cancel_from_elsewhere_leaves_no_hole(
    engine: Engine, monkeypatch: Any, after: bool
) -> None:
    gap = await gap_of(engine).reach(monkeypatch, after=after)
    session_id, turn_id = gap.posted.session_id, gap.posted.turn_id
    await in_thread(service.cancel_turn, CALLER, session_id, turn_id)
    await gap.run_again()
    if after:  # the first process has not said yet what the turn waits for
        async with asyncio.timeout(5):
            await engine.until("session.status_idle")
    gap.let_go()
    await gap.require_kinds([*SHOWN, *END] if after else [*SHOWN[:2], *END])
    assert (await gap.turn()).state == "cancelled"
    assert len(gap.provider.requests) == 1


async def test_results_that_come_before_the_question_leave_no_hole(
    engine: Engine, monkeypatch: Any
) -> None:
    gap = await gap_of(engine).reach(monkeypatch, after=True)
    second = await engine.host(gap.provider)
    await gap.answer(second, {"call_0": "home"})
    async with asyncio.timeout(5):
        await engine.until("session.status_idle")
    gap.let_go()
    await gap.require_kinds([*SHOWN, "tool_call_completed", *END])


# The wish stood, and the turn waited on: it would have ended at its deadline.
async def test_cancel_of_a_waiting_turn_counts_whole_or_not_at_all(
    engine: Engine, monkeypatch: Any
) -> None:
    gap = await gap_of(engine).reach(monkeypatch, after=True)
    gap.let_go()
    session_id, turn_id = gap.posted.session_id, gap.posted.turn_id
    cancel = service.cancel_turn
    with monkeypatch.context() as patched, pytest.raises(DatabaseError):
        patched.setattr(Turn.objects.all().__class__, "update", fails_second())
        await in_thread(cancel, CALLER, session_id, turn_id)
    turn = await gap.turn()
    assert (turn.state, turn.cancel_requested) == ("awaiting_tools", False)


def fails_second() -> Callable[..., int]:
    from django.db.models import QuerySet

    update, calls = QuerySet.update, []

    def failing(self: Any, **changes: Any) -> int:
        calls.append(changes)
        if len(calls) == 2:
            raise DatabaseError("gone")
        return update(self, **changes)

    return failing
