"""The bell between processes: Channels' pub/sub layer, which may lose anything.

One channel and one task for each process: it hears every session that is read here.
A message brings the new events along, and a reader takes them only if they continue
its cursor. A look at all heads each second finds what was not heard.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from channels.layers import get_channel_layer

from sessions_app.bus.memory import TICK_S, LocalBell, LocalSubscription
from sessions_app.bus.redis_log import FAILURES, RedisLog
from sessions_app.bus.redis_url import TIMEOUT_S
from sessions_app.bus.window import Window
from sessions_app.domain.cursor import Cursor
from sessions_app.wire.payload import Entry

logger = logging.getLogger(__name__)

INLINE_BYTES = 65_536
DOWN_TICKS = 2
HEADS_AT_ONCE = 1000


def group_of(session_id: str) -> str:
    """The group of a session's readers."""
    return f"lantern.log.{session_id}"


class SharedSubscription(LocalSubscription):
    """A reader's place at a bell that other processes ring, too."""

    __slots__ = ()

    async def ready(self) -> None:
        assert isinstance(self._bell, SharedBell)
        await self._bell.listen(self.key)


class SharedBell(LocalBell):
    """Hears what any process appended, and wakes the readers of this one."""

    def __init__(self, log: RedisLog) -> None:
        super().__init__()
        self._log = log
        self._channel = ""
        self._hub: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._heard: set[str] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._is_down = False
        self._quiet_until = 0.0
        self._ticks = 0

    def subscribe(self, session_id: str, heartbeat_s: float) -> SharedSubscription:
        return SharedSubscription(self, session_id, heartbeat_s)

    async def ring(self, session_id: str) -> None:
        entries = self._log.fresh.pop(session_id, [])
        rows = [(*e.cursor, e.kind, e.is_terminal, e.stored) for e in entries]
        if sum(len(row[4]) for row in rows) > INLINE_BYTES:
            rows = []
        message = {"type": "log.rung", "s": session_id, "e": rows}
        if time.monotonic() < self._quiet_until:
            return
        try:
            async with asyncio.timeout(TIMEOUT_S):
                await get_channel_layer().group_send(group_of(session_id), message)
        except FAILURES:
            # Readers find out by their look at the heads.
            self._quiet_until = time.monotonic() + TICK_S

    async def listen(self, session_id: str) -> None:
        """Return once rings of the session are heard, or the bell is down."""
        if session_id in self._heard:
            return
        try:
            async with asyncio.timeout(TIMEOUT_S):
                async with self._opening:
                    await self._open()
                await get_channel_layer().group_add(group_of(session_id), self._channel)
            self._heard.add(session_id)
        except FAILURES:
            logger.warning("Redis is down: readers look at the database.")

    async def _open(self) -> None:
        if not self._channel:
            self._channel = await get_channel_layer().new_channel("lantern.")
            self._hub = asyncio.get_running_loop().create_task(self._hear())

    def add(self, reader: LocalSubscription) -> None:
        super().add(reader)
        self._log.windows.setdefault(reader.key, Window())

    def remove(self, reader: LocalSubscription) -> None:
        super().remove(reader)
        if not self.has_readers(reader.key):
            self._log.windows.pop(reader.key, None)
            if reader.key in self._heard:
                self._heard.discard(reader.key)
                task = asyncio.get_running_loop().create_task(self._leave(reader.key))
                self._leaving.add(task)
                task.add_done_callback(self._leaving.discard)

    async def _leave(self, session_id: str) -> None:
        try:
            async with asyncio.timeout(TIMEOUT_S):
                layer = get_channel_layer()
                await layer.group_discard(group_of(session_id), self._channel)
                if self.has_readers(session_id):  # somebody came meanwhile
                    await layer.group_add(group_of(session_id), self._channel)
                    self._heard.add(session_id)
        except FAILURES:
            logger.debug("A group could not be left.")

    async def _hear(self) -> None:
        layer = get_channel_layer()
        while True:
            message: dict[str, Any] = await layer.receive(self._channel)
            window = self._log.windows.get(message["s"])
            if window is None:
                continue
            entries = [
                Entry.restored(Cursor(turn, n), kind, stored, is_terminal)
                for turn, n, kind, is_terminal, stored in message["e"]
            ]
            if entries:
                window.add(entries)
            else:
                window.forget()
            self._wake(message["s"])

    def _wake(self, session_id: str, *, is_lost: bool = False) -> None:
        for reader in self._readers.get(session_id, ()):
            reader.is_lost = reader.is_lost or is_lost
            reader.ring()

    async def _tick(self) -> None:
        while self._readers:
            await asyncio.sleep(TICK_S)
            self._beat()
            try:
                await self._look()
            except FAILURES:
                self._do_without()
            except Exception:
                logger.exception("The heads could not be looked at.")

    async def _look(self) -> None:
        """Find what the bell did not say."""
        for window in self._log.windows.values() if self._is_down else ():
            window.forget()
        windows = list(self._log.windows.items())
        for start in range(0, len(windows), HEADS_AT_ONCE):
            some = windows[start : start + HEADS_AT_ONCE]
            heads = await self._log.heads([session_id for session_id, _ in some])
            for (session_id, window), head in zip(some, heads, strict=True):
                is_new, is_lost = window.compare(head)
                if is_new or self._is_down:
                    self._wake(session_id, is_lost=is_lost or self._is_down)
        self._is_down = False
        for session_id in [key for key in self._readers if key not in self._heard]:
            await self.listen(session_id)

    def _do_without(self) -> None:
        """Redis is down: readers of open turns ask the database now and then."""
        self._is_down = True
        self._ticks += 1
        if self._ticks % DOWN_TICKS == 0:
            for session_id, window in self._log.windows.items():
                if window.is_open:
                    self._wake(session_id, is_lost=True)

    async def close(self) -> None:
        """End the tasks."""
        tasks = [task for task in (self._hub, self._ticker, *self._leaving) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
