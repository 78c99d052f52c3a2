"""A person answers in the agent's place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sessions_app import service
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.parts import TextPart
from sessions_app.models import Message, Session, Turn
from sessions_app.service import NewMessage
from sessions_app.store import claim, takeover
from sessions_app.store.db import in_thread
from tests.engine.conftest import CALLER, Engine
from tests.fakes.people import make_caller
from tests.fakes.scripted_provider import ScriptedProvider, says

KINDS = [
    "session.status_running",
    "turn_started",
    "message_completed",
    "agent.message",
    "session.status_idle",
]
STAFF = make_caller("staff:1", sees_all=True)


async def answer(engine: Engine, content: str, name: str = "Anna", **options: Any):
    message = NewMessage(content, **options)
    reply = service.reply_as_operator
    posted = await in_thread(reply, STAFF, engine.session.pk, name, message)
    for host in engine.hosts:
        host.begin(posted.turn_id)
    return posted


async def taken_over(engine: Engine) -> None:
    await in_thread(service.take_over, STAFF, engine.session.pk, "Anna")


def terminal(events: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    return next(event for kind, event in events if kind == "message_completed")


async def test_operator_speaks_under_their_own_name(engine: Engine) -> None:
    provider = ScriptedProvider()
    await engine.host(provider)
    events = await engine.events(await answer(engine, "It left **today**."))
    assert [kind for kind, _ in events] == KINDS
    assert events[1][1]["operator"] == "Anna"
    end = terminal(events)
    assert (end["text"], end["operator"]) == ("It left **today**.", "Anna")
    assert (end["stopReason"], end["usage"]["costUsd"]) == ("stop", 0)
    stored = await in_thread(Message.objects.get)
    assert (stored.role, stored.content) == ("assistant", "It left **today**.")
    assert (stored.operator, stored.author) == ("Anna", "staff:1")
    assert provider.requests == []


async def test_agent_is_silent_once_somebody_took_over(engine: Engine) -> None:
    provider = ScriptedProvider()
    await taken_over(engine)
    events = await engine.run(provider, "Are you there?")
    assert [kind for kind, _ in events] == KINDS
    end = terminal(events)
    assert (end["text"], end["stopReason"]) == ("", "handed_over")
    assert end["operator"] == "Anna"
    assert provider.requests == []
    stored = await in_thread(Message.objects.get)
    assert (stored.role, stored.content) == ("user", "Are you there?")


async def test_running_reply_is_cancelled_by_a_takeover(engine: Engine) -> None:
    provider = ScriptedProvider([TextPart("begun"), asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    await taken_over(engine)
    host.cancel(posted.turn_id)
    end = terminal(await engine.events(posted))
    assert (end["text"], end["stopReason"]) == ("begun", "cancelled")
    assert "operator" not in end


async def test_waiting_messages_are_brought_to_the_operator(engine: Engine) -> None:
    provider = ScriptedProvider([TextPart("begun"), asyncio.Event()])
    host = await engine.host(provider)
    running, waiting = await engine.post("one"), await engine.post("two")
    host.begin(running.turn_id)
    await engine.until("message_delta")
    await taken_over(engine)
    host.cancel(running.turn_id)
    assert terminal(await engine.events(waiting))["stopReason"] == "handed_over"
    assert len(provider.requests) == 1


async def test_agent_that_gets_it_back_knows_what_was_said(engine: Engine) -> None:
    provider = ScriptedProvider(says("Gladly."))
    host = await engine.host(provider)
    await engine.events(await answer(engine, "Hello, Anna here."))
    for text in ("My order?", "Number 7."):
        posted = await engine.post(text)
        host.begin(posted.turn_id)
        await engine.events(posted)
    await engine.events(await answer(engine, "It left today."))
    await in_thread(service.give_back, STAFF, engine.session.pk)
    posted = await engine.post("Thank you!")
    host.begin(posted.turn_id)
    assert terminal(await engine.events(posted))["text"] == "Gladly."
    [request] = provider.requests
    assert [(each.role, each.content) for each in request.messages] == [
        ("user", "My order?\n\nNumber 7."),
        ("assistant", "It left today."),
        ("user", "Thank you!"),
    ]


async def test_reply_is_sent_once_under_one_key(engine: Engine) -> None:
    await engine.host(ScriptedProvider())
    first = await answer(engine, "Hello", idempotency_key="k")
    again = await answer(engine, "Hello", idempotency_key="k")
    assert (again.turn_id, again.is_replay) == (first.turn_id, True)
    assert await in_thread(Message.objects.count) == 1


async def test_cancel_does_not_take_a_persons_words(engine: Engine) -> None:
    posted = await answer(engine, "Hello")
    await in_thread(service.cancel_turn, CALLER, engine.session.pk, posted.turn_id)
    host = await engine.host(ScriptedProvider())
    host.begin(posted.turn_id)
    end = terminal(await engine.events(posted))
    assert (end["text"], end["stopReason"]) == ("Hello", "stop")


async def test_taking_over_lowers_the_flag(engine: Engine) -> None:
    await in_thread(Session.objects.update, needs_human=True, handover_reason="x")
    await taken_over(engine)
    session = await in_thread(Session.objects.get)
    assert (session.needs_human, session.handover_reason) == (False, "")
    assert session.operator == "Anna"


async def test_agent_cannot_be_asked_again_meanwhile(
    engine: Engine, in_database: Callable[..., Any]
) -> None:
    await engine.run(ScriptedProvider(says("one")))
    await taken_over(engine)
    with pytest.raises(BadRequest, match="taken over"):
        await engine.post(None)  # type: ignore[arg-type]
    assert await in_database(Turn.objects.count) == 1


# Read before the takeover and claimed after it, the turn went to the model.
def test_turn_read_before_a_takeover_is_not_claimed_for_the_agent(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.fakes.people import make_agent, make_session

    session = make_session(make_agent(), CALLER.name)
    posted = service.accept_message(CALLER, session.pk, NewMessage("hello"))
    before = claim._queued(posted.turn_id)
    takeover.begin(session.pk, "Anna")
    monkeypatch.setattr(claim, "_queued", lambda _: before)
    assert claim.claim(posted.turn_id, "worker") is None
    monkeypatch.undo()
    work = claim.claim(posted.turn_id, "worker")
    assert work is not None
    assert work.operator == "Anna"
