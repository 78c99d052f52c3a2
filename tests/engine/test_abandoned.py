from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import DatabaseError
from django.utils import timezone

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.bus.memory import memory_bus
from sessions_app.domain.cursor import SWEPT_TERMINAL_N, Cursor
from sessions_app.domain.events import StatusRunning
from sessions_app.domain.parts import TextPart, ToolCallReady
from sessions_app.engine import sweeper
from sessions_app.engine.sweeper import sweep
from sessions_app.models import Attempt, Turn
from sessions_app.service import NewMessage
from sessions_app.store import turns
from sessions_app.store.claim import claim
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from sessions_app.wire.payload import Entry
from tests.engine.conftest import CALLER, Engine
from tests.fakes.people import make_session
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says
from tests.fakes.waiting import until


async def leave(posted: PostedTurn, **marks: object) -> None:
    """A turn as a process leaves it that died long ago."""
    await in_thread(claim, posted.turn_id, "dead")
    past = timezone.now() - timedelta(minutes=1)
    update = Turn.objects.filter(pk=posted.turn_id).update
    await in_thread(update, lease_until=past, **marks)


# C34
async def test_turn_left_with_deltas_ends_in_message_error(engine: Engine) -> None:
    posted = await engine.post()
    await leave(posted, has_deltas=True)
    assert await sweep(get_bus(), None) == []
    events = await engine.events(posted)
    assert [kind for kind, _ in events] == ["message_error", "session.status_idle"]
    assert events[0][1]["code"] == "worker_lost"
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    assert (turn.state, turn.terminal_n) == ("failed", SWEPT_TERMINAL_N)


async def test_turn_left_without_deltas_is_run_again(engine: Engine) -> None:
    posted = await engine.post()
    await leave(posted)
    assert await sweep(get_bus(), None) == [posted.turn_id]
    provider = ScriptedProvider(says("Hi"))
    host = await engine.host(provider)
    host.begin(posted.turn_id)
    assert (await engine.events(posted))[-3][1]["text"] == "Hi"


async def test_turn_left_after_a_tool_started_is_not_run_again(
    engine: Engine,
) -> None:
    posted = await engine.post()
    await leave(posted, has_started_tool=True)
    assert await sweep(get_bus(), None) == []
    assert (await engine.events(posted))[0][0] == "turn_failed"


async def test_turn_with_a_live_lease_is_left_alone(engine: Engine) -> None:
    posted = await engine.post()
    await in_thread(claim, posted.turn_id, "alive")
    assert await sweep(get_bus(), None) == []
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    assert turn.state == "running"


async def test_only_process_deals_with_all_that_was_left_at_once(
    engine: Engine,
) -> None:
    posted = await engine.post()
    await in_thread(claim, posted.turn_id, "dead")
    await in_thread(Turn.objects.filter(pk=posted.turn_id).update, has_deltas=True)
    await engine.host(ScriptedProvider(says("Hi")), is_alone=True)
    assert (await engine.events(posted))[0][0] == "message_error"


async def test_queued_turn_that_nobody_took_is_found(
    engine: Engine, settings: object
) -> None:
    settings.LANTERN = {"sweep_s": 0.05}  # type: ignore[attr-defined]
    posted = await engine.post()
    await engine.host(ScriptedProvider(says("Hi")))
    assert (await engine.events(posted))[-3][1]["text"] == "Hi"


# The look failed, and with it all periodic work: no lease was renewed, nothing swept.
async def test_start_without_a_database_is_made_up_for(
    engine: Engine, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LANTERN = {"sweep_s": 0.05}  # type: ignore[attr-defined]
    away = Mock(side_effect=DatabaseError("away"))
    monkeypatch.setattr(sweeper, "waiting_turns", away)
    await engine.host(ScriptedProvider(says("Hi")), is_alone=True)
    away.assert_called_once()
    posted = await engine.post()
    assert (await engine.events(posted))[-3][1]["text"] == "Hi"


async def test_runner_that_lost_its_claim_writes_nothing_more(engine: Engine) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider([TextPart("Hel"), gate, TextPart("lo"), STOP])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    past = timezone.now() - timedelta(minutes=1)
    await in_thread(Turn.objects.filter(pk=posted.turn_id).update, lease_until=past)
    await sweep(get_bus(), None)
    gate.set()
    await host.close(1.0)
    kinds = [kind for kind, _ in await engine.events(posted)]
    assert kinds[-3:] == ["message_delta", "message_error", "session.status_idle"]


async def test_lost_claim_is_found_at_renewal(engine: Engine, settings: object) -> None:
    settings.LANTERN = {"renew_s": 0.05}  # type: ignore[attr-defined]
    provider = ScriptedProvider([TextPart("Hel"), asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    update = Turn.objects.filter(pk=posted.turn_id).update
    await in_thread(update, worker="another", fence=9)
    await until(lambda: provider.was_closed, 2)


def post_elsewhere(engine: Engine) -> PostedTurn:
    """A message in another session."""
    other = make_session(engine.agent, CALLER.name)
    return service.post_message(CALLER, other.pk, NewMessage("busy"))


# A process with other work renewed such leases for as long as it had any.
@pytest.mark.parametrize("what", ["its end is not stored", "renewals fail for long"])
async def test_turn_that_nobody_runs_ends_though_its_process_is_busy(
    engine: Engine,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    settings.LANTERN = {
        "sweep_s": 0.1,
        "lease_s": 0.6,
        "renew_s": 0.1,
        "give_up_s": 0.3,
    }
    monkeypatch.setattr("sessions_app.engine.turn.COMMIT_PAUSES_S", (0.01,))
    is_over = asyncio.Event()
    provider = ScriptedProvider(
        [TextPart("lost"), asyncio.Event()]
        if what == "renewals fail for long"
        else says("lost"),
        [TextPart("busy"), is_over, STOP],
    )
    fails = "renew" if what == "renewals fail for long" else "finish"
    whole = getattr(turns, fails)
    host = await engine.host(provider)
    lost = await engine.post()
    with monkeypatch.context() as patched:
        patched.setattr(turns, fails, Mock(side_effect=DatabaseError("down")))
        host.begin(lost.turn_id)
        await until(lambda: provider.requests)
        await until(lambda: not host.running)
    assert getattr(turns, fails) is whole

    host.begin((await in_thread(post_elsewhere, engine)).turn_id)
    await until(lambda: len(provider.requests) == 2)
    events = await engine.events(lost)
    assert host.running
    is_over.set()
    assert events[-2][0] == "message_error"
    assert events[-2][1]["code"] == "worker_lost"


async def test_shutdown_before_first_delta_hands_the_turn_back(engine: Engine) -> None:
    host = await engine.host(ScriptedProvider([asyncio.Event()]))
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("turn_started")
    await host.close(0.0)
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    assert turn.state == "queued"


async def test_shutdown_after_a_delta_ends_the_turn(engine: Engine) -> None:
    host = await engine.host(ScriptedProvider([TextPart("Hel"), asyncio.Event()]))
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    await host.close(0.0)
    events = await engine.events(posted)
    assert events[-2][1]["code"] == "worker_shutdown"


async def test_rerun_uses_the_same_idempotency_key(engine: Engine) -> None:
    provider = ScriptedProvider([asyncio.Event()], says("Hi"))
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("turn_started")
    await until(lambda: provider.requests)
    await host.close(0.0)
    memory_bus.cache_clear()  # the next process knows nothing of the log
    second = await engine.host(provider)
    second.begin(posted.turn_id)
    await engine.events(posted)
    first_key, second_key = (r.idempotency_key for r in provider.requests)
    assert first_key == second_key


async def test_tool_that_started_makes_shutdown_end_the_turn(engine: Engine) -> None:
    await in_thread(lambda: _give_tools(engine))
    call = ToolCallReady("call_1", "current_time")
    provider = ScriptedProvider([call, STOP], [asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("tool_call_completed")
    await host.close(0.0)
    assert (await engine.events(posted))[-3][1]["code"] == "worker_shutdown"


def _give_tools(engine: Engine) -> None:
    engine.agent.tools = ["current_time"]
    engine.agent.save()


# Another process had begun the session's next turn: then nobody else's end was told.
async def test_end_that_comes_too_late_for_the_log_stops_no_other(
    engine: Engine,
) -> None:
    first = await engine.post()
    await leave(first, has_deltas=True)
    second = await in_thread(post_elsewhere, engine)
    third = await in_thread(post_elsewhere, engine)
    await leave(second, has_deltas=True)
    await leave(third)
    later = Entry.of(Cursor(first.ordinal + 1, 1), StatusRunning(first.session_id))
    await get_bus().log.append(first.session_id, 1, [later])
    assert await sweep(get_bus(), None) == [third.turn_id]
    assert await get_bus().log.head_n(second.session_id, 1) > SWEPT_TERMINAL_N


# A turn whose process died was booked with nothing, though the provider bills it.
async def test_left_turn_books_an_estimate(engine: Engine) -> None:
    host = await engine.host(ScriptedProvider([*[TextPart("x")] * 7, asyncio.Event()]))
    posted = await engine.post("four letters a token")
    host.begin(posted.turn_id)
    await engine.until("message_delta", 7)
    past = timezone.now() - timedelta(minutes=1)
    await in_thread(Turn.objects.filter(pk=posted.turn_id).update, lease_until=past)
    await sweep(get_bus(), None)
    attempt = await in_thread(Attempt.objects.get)
    assert (attempt.error_code, attempt.is_estimated) == ("worker_lost", True)
    assert (attempt.tokens_in, attempt.tokens_out) == (5, 7)
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    assert (turn.tokens_out, turn.cost_usd) == (7, attempt.cost_usd)
