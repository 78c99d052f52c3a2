"""The event log in Redis, which every process reads and each turn's owner writes.

A Stream per session, whose ids are the event ids; one script appends, checks the fence
and keeps the order. What Redis loses or does not take, the writer has in memory and
appends again: same ids, same bytes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from redis import asyncio as aioredis
from redis.exceptions import RedisError

from sessions_app.bus.appends import Appends
from sessions_app.bus.base import LogGap, SessionGone, StaleFence
from sessions_app.bus.trips import Trips
from sessions_app.bus.window import Window
from sessions_app.conf import conf
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import StatusIdle, TurnAwaitingTools
from sessions_app.wire.payload import Entry

logger = logging.getLogger(__name__)

READ_LIMIT = 512
PAUSE_S = 1.0
"""After an error nothing is sent for so long: a turn does not wait for each token."""
GONE = b"gone"
META = ("gone", "turn", "n", "trimmed")

PAUSES = (StatusIdle.kind, TurnAwaitingTools.kind)
"""After these a turn has no writer here: another process may go on with it."""

FAILURES = (RedisError, OSError, TimeoutError)


def stream_key(session_id: str) -> str:
    return f"lantern:{{{session_id}}}:log"


def meta_key(session_id: str) -> str:
    return f"lantern:{{{session_id}}}:meta"


def head_key(session_id: str) -> str:
    return f"lantern:{{{session_id}}}:head"


class _Written:
    """What this process wrote of a session's turn, until all of it is in Redis."""

    __slots__ = ("entries", "fence", "is_ended", "ordinal")

    def __init__(self, ordinal: int, fence: int) -> None:
        self.ordinal = ordinal
        self.fence = fence
        self.entries: list[Entry] = []
        self.is_ended = False

    def add(self, entries: list[Entry]) -> None:
        self.entries += entries
        self.is_ended = entries[-1].kind in PAUSES


class RedisLog:
    """The log of all processes; use it on one event loop."""

    may_be_behind = True

    def __init__(self, client: aioredis.Redis) -> None:
        # Its annotations allow for text where this client gives bytes.
        self._client: Any = client
        self._reads = Trips(client)
        self._appends = Appends(client)
        self._written: dict[str, _Written] = {}
        self._unsent: dict[tuple[str, int], _Written] = {}
        self._mending: asyncio.Task[None] | None = None
        self._down_until = 0.0
        self.fresh: dict[str, list[Entry]] = {}
        """Appended and not rung yet, by session."""
        self.windows: dict[str, Window] = {}
        """What the bell brought, of the sessions that are read here."""

    async def append(self, session_id: str, fence: int, entries: list[Entry]) -> None:
        if not entries:
            return
        turn = self._turn_of(session_id, fence, entries)
        turn.add(entries)
        if time.monotonic() < self._down_until:
            self._keep(session_id, turn)
            return
        try:
            await self._send(session_id, turn, entries)
        except FAILURES as error:
            self._fail(error)
            self._keep(session_id, turn)
            return
        self.fresh.setdefault(session_id, []).extend(entries)
        if turn.is_ended:
            self._forget(session_id, turn)

    def leave(self, session_id: str, ordinal: int, fence: int) -> None:
        turn = self._written.get(session_id)
        if turn is not None and (turn.ordinal, turn.fence) == (ordinal, fence):
            # What Redis did not take is kept elsewhere, for a while.
            del self._written[session_id]

    def _forget(self, session_id: str, turn: _Written) -> None:
        """Keep it no more, if it is not a later turn that is kept."""
        if self._written.get(session_id) is turn:
            del self._written[session_id]

    def _turn_of(self, session_id: str, fence: int, entries: list[Entry]) -> _Written:
        ordinal = entries[0].cursor.turn
        turn = self._written.get(session_id)
        if turn is None or (turn.ordinal, turn.fence) != (ordinal, fence):
            turn = self._written[session_id] = _Written(ordinal, fence)
        return turn

    async def _send(
        self,
        session_id: str,
        turn: _Written,
        entries: list[Entry],
        *,
        forced: bool = False,
    ) -> None:
        keys = (stream_key(session_id), meta_key(session_id), head_key(session_id))
        answer = await self._appends.ask(
            keys, turn.ordinal, turn.fence, entries, forced=forced
        )
        match answer[0]:
            case b"stale":
                self._forget(session_id, turn)
                raise StaleFence
            case b"gap":
                # Redis lost some of the turn, or never had it.
                missing = [e for e in turn.entries if e.cursor.n > answer[1]]
                logger.warning("The log of %s is written again.", session_id)
                await self._send(session_id, turn, missing, forced=True)

    def _fail(self, error: Exception) -> None:
        if time.monotonic() >= self._down_until:
            logger.warning("Redis does not take events: %s", error)
        self._down_until = time.monotonic() + PAUSE_S

    def _keep(self, session_id: str, turn: _Written) -> None:
        """Remember what is to be appended once Redis takes it."""
        self._unsent[session_id, turn.ordinal] = turn
        if self._mending is None or self._mending.done():
            self._mending = asyncio.get_running_loop().create_task(self._mend())

    async def _mend(self) -> None:
        """Append again what is missing, until all of it is there or too old."""
        give_up_at = time.monotonic() + conf().log_ttl_s
        while self._unsent and time.monotonic() < give_up_at:
            await asyncio.sleep(PAUSE_S)
            try:
                for (session_id, ordinal), turn in sorted(self._unsent.items()):
                    if await self._is_resent(session_id, turn):
                        self._unsent.pop((session_id, ordinal), None)
            except FAILURES as error:
                self._fail(error)
            except Exception:
                logger.exception("The log could not be mended.")
        for (session_id, _), turn in self._unsent.items():
            self._forget(session_id, turn)
        self._unsent.clear()

    async def _is_resent(self, session_id: str, turn: _Written) -> bool:
        count = len(turn.entries)
        try:
            await self._send(session_id, turn, turn.entries[:], forced=True)
        except StaleFence:
            return True  # a later turn is in the log; this one is told otherwise
        if len(turn.entries) > count:
            return False
        if turn.is_ended:
            self._forget(session_id, turn)
        return True

    async def read(
        self, session_id: str, after: Cursor, caught_up_to: int
    ) -> list[Entry]:
        window = self.windows.get(session_id)
        if window is not None:
            found = window.after(after, caught_up_to)
            if found is not None:
                return found
        try:
            # What is trimmed after the events were read is seen, as they come first.
            start = f"({after.turn}-{after.n}"
            rows, meta = await self._reads.ask(
                ("XRANGE", stream_key(session_id), start, "+", "COUNT", READ_LIMIT),
                ("HMGET", meta_key(session_id), *META),
            )
        except FAILURES as error:
            self._fail(error)
            return []
        gone, turn, _, trimmed = meta
        if gone:
            raise SessionGone
        if turn and int(trimmed) > caught_up_to and after.turn <= int(trimmed):
            raise LogGap(int(trimmed))
        return [_entry(*row) for row in rows]

    async def head_n(self, session_id: str, ordinal: int) -> int | None:
        try:
            _, turn, n, trimmed = await self._meta(session_id)
            if not turn:
                return None
            if int(turn) == ordinal:
                return int(n)
            if not int(trimmed) < ordinal < int(turn):
                return 0
            ends = (f"{ordinal}-18446744073709551615", f"{ordinal}-0")
            last = ("XREVRANGE", stream_key(session_id), *ends, "COUNT", 1)
            [rows] = await self._reads.ask(last)
        except FAILURES as error:
            self._fail(error)
            return None
        return _entry(*rows[0]).cursor.n if rows else 0

    async def lacks(self, session_id: str, place: Cursor) -> bool:
        try:
            gone, turn, n, _ = await self._meta(session_id)
        except FAILURES as error:
            self._fail(error)
            return False
        return not gone and (int(turn or 0), int(n or 0)) < place

    async def trimmed_to(self, session_id: str) -> int | None:
        try:
            *_, trimmed = await self._meta(session_id)
        except FAILURES as error:
            self._fail(error)
            return None
        return None if trimmed is None else int(trimmed)

    async def _meta(self, session_id: str) -> list[Any]:
        [meta] = await self._reads.ask(("HMGET", meta_key(session_id), *META))
        return list(meta)

    async def drop(self, session_id: str) -> None:
        self._written.pop(session_id, None)
        ttl_ms = int(conf().log_ttl_s * 1000)
        try:
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.delete(stream_key(session_id), meta_key(session_id))
                pipe.hset(meta_key(session_id), "gone", "1")
                pipe.pexpire(meta_key(session_id), ttl_ms)
                pipe.set(head_key(session_id), GONE, px=ttl_ms)
                await pipe.execute()
        except FAILURES as error:
            self._fail(error)

    async def heads(self, session_ids: list[str]) -> list[bytes | None]:
        """The heads as ``turn-n-ended``; raises what Redis raises."""
        found: list[bytes | None] = await self._client.mget(map(head_key, session_ids))
        return found

    async def close(self) -> None:
        """Send what can be sent, and close the connections."""
        if self._mending is not None:
            self._mending.cancel()
            await asyncio.gather(self._mending, return_exceptions=True)
        await self._appends.close()
        await self._reads.close()
        await self._client.aclose()


def _entry(id_: bytes, fields: dict[bytes, bytes]) -> Entry:
    turn, _, n = id_.partition(b"-")
    cursor = Cursor(int(turn), int(n))
    kind, is_terminal = fields[b"k"].decode(), fields[b"t"] == b"1"
    return Entry.restored(cursor, kind, fields[b"b"], is_terminal)
