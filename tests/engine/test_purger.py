"""A running server removes by itself what is over its time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sessions_app.bus import get_bus
from sessions_app.bus.base import SessionGone
from sessions_app.domain.cursor import START
from sessions_app.domain.errors import NotFound
from sessions_app.domain.parts import TextPart
from sessions_app.engine.purger import purge
from sessions_app.models import Agent, Message, Session, Turn
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.fakes.people import make_session
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says


async def set_days(days: int) -> None:
    await in_thread(lambda: Agent.objects.update(retention_days=days))


async def test_texts_go_once_the_conversation_rests(
    engine: Engine, settings: Any
) -> None:
    settings.LANTERN = {"purge_s": 0.05, "log_ttl_s": 0.2}
    await set_days(0)
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert events[-3][1]["text"] == "Hi"
    for _ in range(200):
        if not await in_thread(Message.objects.count):
            break
        await asyncio.sleep(0.02)
    session = await in_thread(Session.objects.get)
    assert session.purged_at is not None
    with pytest.raises(SessionGone):  # nor does the log hold them any longer
        while True:
            await get_bus().log.read(session.pk, START, 0)
            await asyncio.sleep(0.01)
    turn = await in_thread(Turn.objects.get)
    assert (turn.state, turn.tokens_out > 0) == ("completed", True)


async def test_answer_under_way_is_not_cut_off(engine: Engine, settings: Any) -> None:
    settings.LANTERN = {"purge_s": 0.02, "log_ttl_s": 0.01}
    await set_days(0)
    release = asyncio.Event()
    provider = ScriptedProvider([TextPart("Hel"), release, TextPart("lo"), STOP])
    posted = await engine.post()
    host = await engine.host(provider)
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    await asyncio.sleep(0.2)
    assert await in_thread(Message.objects.count) == 1
    release.set()
    end = [data for kind, data in await engine.events(posted) if "text" in data]
    assert end[0]["text"] == "Hello"


async def test_several_purgers_share_the_work(engine: Engine, settings: Any) -> None:
    settings.LANTERN = {"log_ttl_s": 0.01}
    await set_days(0)

    def make() -> None:
        for _ in range(120):
            make_session(engine.agent)

    await in_thread(make)
    await asyncio.sleep(0.05)
    counts = await asyncio.gather(*(purge(get_bus()) for _ in range(3)))
    assert sum(counts) == 121


async def test_message_and_purge_never_both_win(engine: Engine, settings: Any) -> None:
    # A message accepted for a conversation that is removed would never be answered.
    settings.LANTERN = {"log_ttl_s": 0.001}
    await set_days(0)
    for _ in range(20):
        session = await in_thread(make_session, engine.agent)
        engine.session = session
        await asyncio.sleep(0.005)
        posted, _ = await asyncio.gather(
            engine.post(), purge(get_bus()), return_exceptions=True
        )
        await in_thread(session.refresh_from_db)
        if isinstance(posted, BaseException):
            assert isinstance(posted, NotFound)
            assert session.purged_at is not None
        else:
            assert session.purged_at is None
