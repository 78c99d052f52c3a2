"""Two fake providers on real sockets, behind the agent's route primary, backup."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sessions_app.models import Provider
from sessions_app.providers.http import close_transports
from sessions_app.providers.registry import adapter_for
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine, Event
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.openai_events import DONE, finish, text, usage

GOOD = Reply([text("fine"), finish(), usage(7, 1), DONE])


class Pair:
    """What the two were asked, and a turn over them."""

    def __init__(self, engine: Engine, first: FakeUpstream, second: FakeUpstream):
        self.engine = engine
        self.first = first
        self.second = second

    async def run(self, content: str = "hello", **options: Any) -> list[Event]:
        """Post a message, run its turn with the real adapters, give its events."""
        host = self.engine.hosts[0]
        posted = await self.engine.post(content, **options)
        host.begin(posted.turn_id)
        return await self.engine.events(posted)

    @property
    def asked(self) -> tuple[int, int]:
        """How many requests each of the two had."""
        return len(self.first.requests), len(self.second.requests)


def deltas(events: Sequence[Event]) -> list[tuple[int, str]]:
    """What was shown, with its numbers."""
    return [(e["seq"], e["delta"]) for kind, e in events if kind == "message_delta"]


def end(events: Sequence[Event]) -> tuple[str, str]:
    """The kind of the one terminal event, and its text or code."""
    ends = ("message_completed", "message_error", "turn_failed")
    found = [(kind, e) for kind, e in events if kind in ends]
    assert len(found) == 1
    kind, event = found[0]
    return kind, event["text"] if kind == "message_completed" else event["code"]


@asynccontextmanager
async def upstreams(engine: Engine, *replies: Reply) -> AsyncIterator[Pair]:
    """The first gives these replies in turn; the second always a good one."""
    async with FakeUpstream() as first, FakeUpstream() as second:
        first.enqueue(*replies)
        second.enqueue(GOOD)

        def place() -> None:
            for name, upstream in (("primary", first), ("backup", second)):
                provider = Provider.objects.get(name=name)
                provider.base_url = upstream.base_url
                provider.allow_private = True
                provider.connect_timeout_s = 2
                provider.first_content_timeout_s = 0.5
                provider.idle_timeout_s = 0.5
                provider.save()

        await in_thread(place)
        host = await engine.host_with(adapter_for)
        try:
            yield Pair(engine, first, second)
        finally:
            await host.close(0.0)
            await close_transports()
