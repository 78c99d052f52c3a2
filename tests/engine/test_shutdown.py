"""What a process that ends leaves of its turns, also while the database is away."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from django.db import DatabaseError, InterfaceError

from sessions_app.engine import host as host_module
from sessions_app.models import Message, Turn
from sessions_app.store import db, turns
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from tests.engine.conftest import Engine
from tests.fakes.scripted_provider import ScriptedProvider, says
from tests.fakes.waiting import until


async def state_of(posted: PostedTurn) -> str:
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    return str(turn.state)


def failing(times: int, error: Exception, function: Any) -> Any:
    """The function, once it has failed so many times."""
    left = [error] * times

    def call(*arguments: Any) -> Any:
        if left:
            raise left.pop()
        return function(*arguments)

    return call


# The turn waited for its lease to run out: the wish to hand it back was made once.
@pytest.mark.parametrize("fault", [DatabaseError("away"), InterfaceError("closed")])
async def test_turn_is_handed_back_once_the_database_is_there_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    host = await engine.host(ScriptedProvider([asyncio.Event()]))
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("turn_started")
    monkeypatch.setattr(turns, "release", failing(2, fault, turns.release))
    await host.close(0.0)
    assert await state_of(posted) == "queued"


async def test_database_that_stays_away_does_not_hold_up_the_end(
    engine: Engine, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LANTERN = {"give_up_s": 0.4}
    host = await engine.host(ScriptedProvider([asyncio.Event()]))
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("turn_started")
    fault = DatabaseError("away")
    monkeypatch.setattr(turns, "release", failing(100, fault, turns.release))
    async with asyncio.timeout(2):
        await host.close(0.0)
    assert await state_of(posted) == "running"


# One way in which a driver says that its connection is gone: the reply was lost.
async def test_end_is_stored_over_a_closed_connection(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = InterfaceError("closed")
    monkeypatch.setattr(turns, "finish", failing(1, fault, turns.finish))
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert events[-3][1]["text"] == "Hi"
    assert await in_thread(Message.objects.filter(content="Hi").count) == 1


# It was claimed for a process that had ended, and waited for its lease to run out.
async def test_claim_on_its_way_is_handed_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, asked, go_on = host_module.claims.claim, asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(*arguments: Any) -> Any:
        loop.call_soon_threadsafe(asked.set)
        go_on.wait(5)
        return claim(*arguments)

    monkeypatch.setattr(host_module.claims, "claim", slow)
    provider = ScriptedProvider([asyncio.Event()])
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await asked.wait()
    closing = asyncio.create_task(host.close(0.0))
    await asyncio.sleep(0.05)
    go_on.set()
    await closing
    await db.quiet()
    assert await state_of(posted) == "queued"
    assert provider.requests == []
    await until(lambda: not host.running)
