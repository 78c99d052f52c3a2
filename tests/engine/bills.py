"""Turns over one provider on a real socket, and what they were charged."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig
from sessions_app.models import Attempt, Price, Provider
from sessions_app.providers.base import ProviderAdapter
from sessions_app.providers.http import close_transports
from sessions_app.providers.registry import adapter_for
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine, Event
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.openai_events import DONE, finish, text, usage

# What the well-known wrong bills were found with.
TEST_PRICE = {
    "input": Decimal("3.00"),
    "output": Decimal("15.00"),
    "cached_input": Decimal("0.30"),
    "cache_write": Decimal("3.75"),
}


class Redirected:
    """The real adapter, for an account at a vendor, led to a loopback socket."""

    def __init__(self, upstream: FakeUpstream, kind: str) -> None:
        self._upstream = upstream
        self._adapter = adapter_for(kind)

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        here = replace(config, base_url=self._upstream.base_url, allow_private=True)
        async for parts in self._adapter.stream(here, request):
            yield parts


class Shop:
    """One provider, and turns over it."""

    def __init__(self, engine: Engine, upstream: FakeUpstream) -> None:
        self.engine = engine
        self.upstream = upstream

    async def run(self, content: str = "hello") -> dict[str, Any]:
        """A turn to its end; the usage that its reader was told."""
        events = await self.events(content)
        (done,) = [event for kind, event in events if kind == "message_completed"]
        usage: dict[str, Any] = done["usage"]
        return usage

    async def events(self, content: str = "hello") -> list[Event]:
        """A turn to its end."""
        posted = await self.engine.post(content)
        self.engine.hosts[0].begin(posted.turn_id)
        return await self.engine.events(posted)


@asynccontextmanager
async def shop(
    engine: Engine,
    kind: str = "openai",
    *,
    base_url: str = "",
    model: str = "gpt-x",
    price: dict[str, Decimal] | None = None,
) -> AsyncIterator[Shop]:
    """An account of that kind, with one price for all its models or none."""

    def place() -> None:
        Price.objects.all().delete()
        row = Provider.objects.get(name="primary")
        row.kind, row.base_url = kind, base_url or upstream.base_url
        row.allow_private = True
        row.idle_timeout_s = row.first_content_timeout_s = 2
        row.save()
        if price is not None:
            Price.objects.create(provider=row, model="*", **price)
        engine.agent.route = [f"primary/{model}"]
        engine.agent.save()

    async with FakeUpstream() as upstream:
        await in_thread(place)
        adapters: dict[str, ProviderAdapter] = {kind: Redirected(upstream, kind)}
        host = await engine.host_with(adapters.__getitem__)
        try:
            yield Shop(engine, upstream)
        finally:
            await host.close(0.0)
            await close_transports()


def completion(prompt: int, out: int, **more: Any) -> Reply:
    """A whole reply with these counts."""
    return Reply([text("fine"), finish(), usage(prompt, out, **more), DONE])


def billed(found: dict[str, Any]) -> tuple[int, int, float | None, bool]:
    """Tokens in and out, USD, and whether they are an estimate."""
    return (
        found["tokensIn"],
        found["tokensOut"],
        found["costUsd"],
        found["estimated"],
    )


async def attempts() -> list[Attempt]:
    """The book, in order."""
    return await in_thread(lambda: list(Attempt.objects.order_by("pk")))


def anthropic_event(kind: str, **fields: Any) -> bytes:
    """One event of a Messages stream."""
    body = json.dumps({"type": kind, **fields})
    return f"event: {kind}\ndata: {body}\n\n".encode()


def message(
    start: dict[str, Any], *deltas: dict[str, Any], text: str = "fine"
) -> list[bytes]:
    """A whole Messages stream with these counts, at its start and after its text."""
    block = {"type": "text", "text": ""}
    return [
        anthropic_event("message_start", message={"usage": start}),
        anthropic_event("content_block_start", index=0, content_block=block),
        anthropic_event(
            "content_block_delta", index=0, delta={"type": "text_delta", "text": text}
        ),
        anthropic_event("content_block_stop", index=0),
        *(
            anthropic_event(
                "message_delta", delta={"stop_reason": "end_turn"}, usage=usage
            )
            for usage in deltas
        ),
        anthropic_event("message_stop"),
    ]
