"""A turn that waits for somebody, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from sessions_app import service
from sessions_app.domain.parts import FinishPart, StopReason, TextPart, ToolCallReady
from sessions_app.domain.prompt import ToolSpec
from sessions_app.models import Turn
from sessions_app.store.db import in_thread
from sessions_app.store.progress import ToolResult
from tests.engine.conftest import CALLER, Engine, Event
from tests.fakes.scripted_provider import ScriptedProvider, Step

PAGE = ToolSpec("page", "The current page", {"type": "object", "properties": {}})
WANTS_TOOLS = FinishPart(StopReason.STOP, is_tool_calls=True)


def asks(*names: str, text: str = "") -> list[Step]:
    calls = [ToolCallReady(f"call_{i}", name, {"n": i}) for i, name in enumerate(names)]
    return [*([TextPart(text)] if text else []), *calls, WANTS_TOOLS]


class Waiting:
    """A turn that waits, and the ways on from there."""

    def __init__(self, engine: Engine, provider: ScriptedProvider) -> None:
        self.engine = engine
        self.provider = provider

    async def until(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(5):
            while not await is_so():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def begin(self, **options: Any) -> Waiting:
        self.host = await self.engine.host(self.provider)
        options.setdefault("client_tools", (PAGE,))
        self.posted = await self.engine.post("Where am I?", **options)
        self.host.begin(self.posted.turn_id)
        await self.until(self.is_waiting)
        return self

    async def turn(self) -> Turn:
        return await in_thread(Turn.objects.get, pk=self.posted.turn_id)

    async def is_waiting(self) -> bool:
        return (await self.turn()).state == "awaiting_tools"

    async def send(self, *results: ToolResult, caller: Any = CALLER) -> None:
        session_id = self.engine.session.pk
        await in_thread(
            service.send_tool_results, caller, session_id, self.posted.turn_id, results
        )
        self.host.begin(self.posted.turn_id)

    async def approve(self, **approvals: bool) -> None:
        session_id = self.engine.session.pk
        await in_thread(
            service.approve_calls, CALLER, session_id, self.posted.turn_id, approvals
        )
        self.host.begin(self.posted.turn_id)

    async def events(self) -> list[Event]:
        return await self.engine.events(self.posted)
