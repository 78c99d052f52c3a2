"""The Channels consumer that runs turns, and the wake-ups sent to it.

The messages are only hints: the database decides which turn may run, so a message
that is lost or comes twice does no harm.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from asgiref.sync import async_to_sync
from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import ChannelFull
from channels.layers import get_channel_layer
from django.conf import settings

from sessions_app.bus import FAILURES, TIMEOUT_S, close_bus, get_bus
from sessions_app.engine.failover import FindAdapter
from sessions_app.engine.host import TurnHost
from sessions_app.outbound.client import close_sessions
from sessions_app.providers.http import close_transports
from sessions_app.providers.registry import adapter_for
from sessions_app.tools.mcp_tool import close_servers

logger = logging.getLogger(__name__)

TURNS = "lantern.turns"
WORKERS = "lantern.workers"
CANCEL_AGAIN_S = 0.5


class TurnConsumer(AsyncConsumer):  # type: ignore[misc]
    """Never waits for a provider in a handler: each turn is a task of the host."""

    def __init__(self, host: TurnHost) -> None:
        self.host = host

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler; the base class would visit a thread first."""
        try:
            await getattr(self, get_handler_name(message))(message)
        except FAILURES:
            raise  # the layer is listened to anew
        except Exception:
            # While versions change, another one may send what is unknown here.
            logger.exception("A wake-up was not understood.")

    async def turns_open(self, message: dict[str, Any]) -> None:
        """The first message: take part in what is said to all workers."""
        await self.channel_layer.group_add(WORKERS, self.channel_name)

    async def turn_run(self, message: dict[str, Any]) -> None:
        """A turn waits."""
        self.host.begin(message["turn_id"])

    async def turn_cancel(self, message: dict[str, Any]) -> None:
        """A turn is to end now."""
        self.host.cancel(message["turn_id"])


class EngineTask:
    """The engine of this process: a consumer in a task.

    Without ``runs_turns`` the process only sends wake-ups, to those that do.
    """

    loop: ClassVar[asyncio.AbstractEventLoop | None] = None
    """The loop that wake-ups are sent on."""

    def __init__(
        self, find_adapter: FindAdapter = adapter_for, *, runs_turns: bool = True
    ) -> None:
        self.find_adapter = find_adapter
        self.runs_turns = runs_turns
        self._task: asyncio.Task[None] | None = None
        self._host: TurnHost | None = None

    def ensure_running(self) -> None:
        """Start the engine on the running loop, unless it runs already."""
        if not self.runs_turns:
            EngineTask.loop = EngineTask.loop or asyncio.get_running_loop()
        elif self._task is None or self._task.done():
            is_alone = not settings.REDIS_URL
            self._host = TurnHost(get_bus(), self.find_adapter, is_alone=is_alone)
            loop = EngineTask.loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._run(self._host))

    async def ready(self) -> None:
        """Wait until what an earlier process left is dealt with.

        A reader let in before would bring the cursor of a turn that is neither in the
        log nor ended, and be refused.
        """
        self.ensure_running()
        if self._host is not None:
            await self._host.opened.wait()

    async def stop(self, patience_s: float = 0.0) -> None:
        """End the engine; running turns get some seconds to end by themselves."""
        await self.end_turns(patience_s)
        # Again, if need be: on its way into a group, the layer swallows a cancel.
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CANCEL_AGAIN_S)
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        await close_transports()
        await close_servers()
        await close_sessions()
        await close_bus()
        if settings.REDIS_URL:
            await get_channel_layer().flush()
        self._task = self._host = EngineTask.loop = None

    async def end_turns(self, patience_s: float) -> None:
        """Run no more turns; what is left of the engine serves the last readers."""
        if self._host is not None:
            await self._host.close(patience_s)

    def hasten(self) -> None:
        """While it stops: the turns that still run get no more time."""
        if self._host is not None:
            self._host.stop_runs()

    async def _run(self, host: TurnHost) -> None:
        opening = asyncio.create_task(host.open())
        try:
            while True:
                try:
                    await self._listen(host)
                except FAILURES as error:
                    # The sweeper finds what is not heard meanwhile.
                    logger.warning("Wake-ups are not heard: %s", error)
                except Exception:
                    logger.exception("A wake-up cannot be read.")
                await asyncio.sleep(TIMEOUT_S)
        finally:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)

    async def _listen(self, host: TurnHost) -> None:
        layer = get_channel_layer()
        is_open = False

        async def receive() -> dict[str, Any]:
            nonlocal is_open
            if not is_open:
                is_open = True
                return {"type": "turns.open"}
            message: dict[str, Any] = await layer.receive(TURNS)
            return message

        async def send(message: dict[str, Any]) -> None:
            raise RuntimeError("There is nobody to answer.")

        consumer = TurnConsumer(host)
        await consumer({"type": "channel", "channel": TURNS}, receive, send)


engine = EngineTask(runs_turns=settings.LANTERN_ENGINE)


def wake_turn(turn_id: str) -> None:
    """Tell one worker that a turn waits; for synchronous callers."""
    _send_soon(tell_turn, turn_id)


def wake_cancel(turn_id: str) -> None:
    """Tell all workers that a turn is to end; for synchronous callers."""
    _send_soon(tell_cancel, turn_id)


def wake_to_end(turn_id: str) -> None:
    """Whoever runs the turn is told; one that waited for somebody is run again."""
    wake_cancel(turn_id)
    wake_turn(turn_id)


def let_readers_go(session_id: str) -> None:
    """End the streams of a session that was deleted; for synchronous callers."""
    _send_soon(_drop, session_id)


def _send_soon(tell: Callable[[str], Coroutine[Any, Any, None]], id_: str) -> None:
    """Send on the engine's loop without waiting: a lost wake-up costs a sweep."""
    loop = EngineTask.loop
    if loop is not None and loop.is_running():
        loop.call_soon_threadsafe(loop.create_task, tell(id_))
    else:
        async_to_sync(tell)(id_)


async def _drop(session_id: str) -> None:
    bus = get_bus()
    await bus.log.drop(session_id)
    await bus.bell.ring(session_id)


async def tell_turn(turn_id: str) -> None:
    """Tell one worker that a turn waits."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            message = {"type": "turn.run", "turn_id": turn_id}
            await get_channel_layer().send(TURNS, message)
    except (ChannelFull, *FAILURES):
        logger.warning("The wake-up of turn %s is left to the sweeper.", turn_id)


async def tell_cancel(turn_id: str) -> None:
    """Tell all workers that a turn is to end."""
    message = {"type": "turn.cancel", "turn_id": turn_id}
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await get_channel_layer().group_send(WORKERS, message)
    except FAILURES:
        logger.warning("Turn %s will end when its lease is renewed.", turn_id)
