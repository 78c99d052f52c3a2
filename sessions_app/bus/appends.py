"""Appends to Redis that go there together: what all turns of a process want written.

One script takes them all. A command for each turn took longer to put together and to
take apart than what it carried.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack
from redis.exceptions import NoScriptError, ResponseError

from sessions_app.bus.trips import PATIENCE_S, broken_off, settle
from sessions_app.conf import conf
from sessions_app.domain.cursor import SWEPT_TERMINAL_N
from sessions_app.domain.events import StatusIdle
from sessions_app.wire.payload import Entry

PACE_S = 0.005
"""Between two trips to Redis. A lone stream's tokens come slower and wait for nothing;
those of many streams share a trip and a message of the bell, which cost more than what
they carry."""
SESSIONS_AT_ONCE = 100
"""Of one script, which keeps Redis from all else while it runs."""
BYTES_AT_ONCE = 1_000_000
"""Of events, as a rule: one session's may be more."""

APPEND = (Path(__file__).parent / "lua" / "append.lua").read_text()

Keys = tuple[str, str, str]
"""Stream, meta and head of a session."""


@dataclass(slots=True)
class _Asked:
    keys: Keys
    given: list[Any]
    size: int
    answer: asyncio.Future[Sequence[Any]]


class Appends:
    """Writes one trip after the other; use it on one event loop."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._sha = hashlib.sha1(APPEND.encode()).hexdigest()
        self._waiting: list[_Asked] = []
        self._going: asyncio.Task[None] | None = None
        self._next_trip_at = 0.0

    async def ask(
        self,
        keys: Keys,
        ordinal: int,
        fence: int,
        entries: list[Entry],
        *,
        forced: bool,
    ) -> Sequence[Any]:
        """What the script answers for one session; raises what Redis raises."""
        loop = asyncio.get_running_loop()
        given: list[Any] = [ordinal, fence, forced]
        size = 0
        for entry in entries:
            stored = entry.stored
            given += [entry.cursor.n, entry.kind, int(entry.is_terminal), stored]
            size += len(stored)
        asked = _Asked(keys, given, size, loop.create_future())
        self._waiting.append(asked)
        if self._going is None or self._going.done():
            self._going = loop.create_task(self._go())
        return await asked.answer

    async def _go(self) -> None:
        asked: list[_Asked] = []
        try:
            while self._waiting:
                if (early_s := self._next_trip_at - time.monotonic()) > 0:
                    await asyncio.sleep(early_s)
                self._next_trip_at = time.monotonic() + PACE_S
                asked, self._waiting = self._waiting, []
                for some in _parts(asked):
                    await self._trip(some)
        except BaseException:
            left, self._waiting = [*asked, *self._waiting], []
            _tell(left, [broken_off()] * len(left))
            raise

    async def _trip(self, some: list[_Asked]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                answers = await self._evaluate(some)
        except Exception as error:
            answers = [error] * len(some)
        _tell(some, answers)

    async def _evaluate(self, some: list[_Asked]) -> Sequence[Any]:
        keys = [key for asked in some for key in asked.keys]
        ttl_ms = max(int(conf().log_ttl_s * 1000), 1)
        settings = (SWEPT_TERMINAL_N, StatusIdle.kind, conf().log_bytes, ttl_ms)
        # The script knows no bytes but text, which need not be UTF-8 there.
        packed = msgpack.packb([asked.given for asked in some], use_bin_type=False)
        command = ("EVALSHA", self._sha, len(keys), *keys, *settings, packed)
        try:
            answers: Sequence[Any] = await self._client.execute_command(*command)
        except NoScriptError:
            await self._client.script_load(APPEND)
            answers = await self._client.execute_command(*command)
        return [_raised(answer) for answer in answers]

    async def close(self) -> None:
        """Write no more."""
        if self._going is not None:
            self._going.cancel()
            await asyncio.gather(self._going, return_exceptions=True)


def _parts(waiting: list[_Asked]) -> list[list[_Asked]]:
    """What goes into one script each, in order."""
    parts: list[list[_Asked]] = []
    size = 0
    for asked in waiting:
        size += asked.size
        if not parts or len(parts[-1]) == SESSIONS_AT_ONCE or size > BYTES_AT_ONCE:
            parts.append([])
            size = asked.size
        parts[-1].append(asked)
    return parts


def _raised(answer: Sequence[Any]) -> Any:
    if answer[0] == b"error":
        return ResponseError(answer[1].decode("utf-8", "replace"))
    return answer


def _tell(some: list[_Asked], answers: Sequence[Any]) -> None:
    for asked, answer in zip(some, answers, strict=True):
        settle(asked.answer, answer)
