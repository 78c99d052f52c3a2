"""A turn host over a scripted provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.cursor import START, Cursor
from sessions_app.edge.live.tail import tail
from sessions_app.engine.failover import FindAdapter
from sessions_app.engine.host import TurnHost
from sessions_app.models import Agent, Session
from sessions_app.service import NewMessage
from sessions_app.store import db
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
from tests.fakes.people import make_agent, make_caller, make_session
from tests.fakes.scripted_provider import ScriptedProvider

CALLER = make_caller()
Event = tuple[str, dict[str, Any]]


class Engine:
    """One session, a host, and what its readers see."""

    def __init__(self, session: Session, agent: Agent) -> None:
        self.session = session
        self.agent = agent
        self.hosts: list[TurnHost] = []

    async def host(self, provider: ScriptedProvider, **options: Any) -> TurnHost:
        """A host of its own worker name, open."""
        return await self.host_with(provider.find, **options)

    async def host_with(self, find_adapter: FindAdapter, **options: Any) -> TurnHost:
        """The same over any adapters."""
        options.setdefault("is_alone", False)
        host = TurnHost(get_bus(), find_adapter, **options)
        self.hosts.append(host)
        await host.open()
        return host

    async def post(self, content: str = "hello", **options: Any) -> PostedTurn:
        """Accept a message, as REST would."""
        message = NewMessage(content, **options)
        return await in_thread(service.post_message, CALLER, self.session.pk, message)

    async def run(
        self, provider: ScriptedProvider, content: str = "hello"
    ) -> list[Event]:
        """Post a message, run its turn, give its events."""
        host = await self.host(provider)
        posted = await self.post(content)
        host.begin(posted.turn_id)
        return await self.events(posted)

    async def events(self, posted: PostedTurn) -> list[Event]:
        """All events of a turn, to its idle state."""
        found = []
        after = Cursor(posted.ordinal, 0)
        async with aclosing(tail(get_bus(), self.session.pk, after)) as batches:
            async for entries in batches:
                for entry in entries:
                    found.append((entry.kind, msgspec.json.decode(entry.body)))
                if found and found[-1][0] == "session.status_idle":
                    return found
        return found

    async def until(self, kind: str, count: int = 1) -> None:
        """Wait until the session has shown an event of a kind ``count`` times."""
        async with aclosing(tail(get_bus(), self.session.pk, START)) as batches:
            async for entries in batches:
                count -= sum(entry.kind == kind for entry in entries)
                if count <= 0:
                    return


@pytest.fixture
async def engine(transactional_db: None) -> AsyncIterator[Engine]:
    """An engine without a host: tests bring their own provider."""

    def make() -> tuple[Session, Agent]:
        agent = make_agent()
        return make_session(agent, CALLER.name), agent

    made = Engine(*await in_thread(make))
    async with asyncio.timeout(15):
        yield made
    for host in made.hosts:
        await host.close(0.0)
    await db.quiet()


@pytest.fixture
def in_database() -> Callable[..., Any]:
    """Call a blocking function off the loop."""
    return in_thread
