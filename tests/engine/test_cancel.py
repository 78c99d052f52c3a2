from __future__ import annotations

import asyncio

import pytest

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.parts import TextPart
from sessions_app.domain.states import OnBusy
from sessions_app.engine import host as host_module
from sessions_app.engine.turn import StopCause, TurnRun
from sessions_app.models import Attempt, Message, Turn
from sessions_app.store.db import in_thread
from tests.engine.conftest import CALLER, Engine
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says


# C35
async def test_cancelled_turn_keeps_its_text_and_closes_the_provider(
    engine: Engine,
) -> None:
    provider = ScriptedProvider([TextPart("Hel"), asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    host.cancel(posted.turn_id)
    events = await engine.events(posted)
    assert events[-3][1]["text"] == "Hel"
    assert events[-3][1]["stopReason"] == "cancelled"
    assert provider.was_closed == 1
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    assert turn.state == "cancelled"


# C63 (3): the count of a reply that was cut short is an estimate
async def test_cancelled_turn_books_partial_tokens(engine: Engine) -> None:
    provider = ScriptedProvider([TextPart("x" * 200), asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    host.cancel(posted.turn_id)
    await engine.events(posted)
    attempt = await in_thread(Attempt.objects.get)
    assert (attempt.status, attempt.is_estimated) == ("cancelled", True)
    assert (attempt.tokens_out, attempt.tokens_in > 0) == (50, True)


async def test_cancel_before_first_delta_stores_no_message(engine: Engine) -> None:
    provider = ScriptedProvider([asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("turn_started")
    host.cancel(posted.turn_id)
    events = await engine.events(posted)
    assert (events[-3][0], events[-3][1]["text"]) == ("message_completed", "")
    assert not await in_thread(Message.objects.filter(role="assistant").exists)


async def test_second_cancel_changes_nothing(engine: Engine) -> None:
    provider = ScriptedProvider([TextPart("Hel"), asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    host.cancel(posted.turn_id)
    host.cancel(posted.turn_id)
    events = await engine.events(posted)
    assert [kind for kind, _ in events].count("message_completed") == 1


async def test_cancelled_queued_turn_ends_when_its_time_comes(engine: Engine) -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider([gate, TextPart("one"), STOP], says("never"))
    host = await engine.host(provider)
    first, second = await engine.post("one"), await engine.post("two")
    host.begin(first.turn_id)
    await engine.until("turn_started")
    session_id = engine.session.pk
    await in_thread(service.cancel_turn, CALLER, session_id, second.turn_id)
    gate.set()
    events = await engine.events(second)
    assert events[-3][1]["stopReason"] == "cancelled"
    assert len(provider.requests) == 1


async def test_interrupt_ends_the_running_turn_first(engine: Engine) -> None:
    provider = ScriptedProvider([TextPart("Hel"), asyncio.Event()], says("two"))
    host = await engine.host(provider)
    first = await engine.post("one")
    host.begin(first.turn_id)
    await engine.until("message_delta")
    second = await engine.post("two", on_busy=OnBusy.INTERRUPT)
    assert second.interrupted == first.turn_id
    host.cancel(second.interrupted)
    events = await engine.events(second)
    assert events[-3][1]["text"] == "two"
    assert (await engine.events(first))[-3][1]["stopReason"] == "cancelled"


async def test_wish_in_the_database_is_heeded_at_renewal(
    engine: Engine, settings: object
) -> None:
    settings.LANTERN = {"renew_s": 0.05}  # type: ignore[attr-defined]
    provider = ScriptedProvider([TextPart("Hel"), asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    await in_thread(
        Turn.objects.filter(pk=posted.turn_id).update, cancel_requested=True
    )
    assert (await engine.events(posted))[-3][1]["stopReason"] == "cancelled"


# A cancel that came between claim and first step was lost until the leases were
# renewed, or left the turn running for ever.
async def test_cancel_right_after_the_claim_counts(engine: Engine, monkeypatch) -> None:
    provider = ScriptedProvider([asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    claim = host_module.claims.claim
    loop = asyncio.get_running_loop()

    def claim_and_cancel(turn_id: str, worker: str):
        work = claim(turn_id, worker)
        loop.call_soon_threadsafe(host.cancel, turn_id)
        return work

    monkeypatch.setattr(host_module.claims, "claim", claim_and_cancel)
    host.begin(posted.turn_id)
    events = await engine.events(posted)
    assert [kind for kind, _ in events[:3]] == [
        "session.status_running",
        "turn_started",
        "message_completed",
    ]
    assert events[2][1]["stopReason"] == "cancelled"
    assert provider.requests == []


@pytest.mark.parametrize("cause", [StopCause.CLAIM_LOST, StopCause.SHUTDOWN])
async def test_stop_before_the_first_step_shows_nothing(
    engine: Engine, cause: StopCause
) -> None:
    posted = await engine.post()
    work = await in_thread(host_module.claims.claim, posted.turn_id, "w")
    run = TurnRun(work, get_bus(), ScriptedProvider(says("Hi")).find)
    run.stop(cause)
    await run.task
    assert await get_bus().log.head_n(posted.session_id, posted.ordinal) == 0
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    expected = {StopCause.CLAIM_LOST: "running", StopCause.SHUTDOWN: "queued"}
    assert turn.state == expected[cause]
