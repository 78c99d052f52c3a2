"""Log and bell inside one process: the embedded default.

After a restart nothing is here: ended turns are told from the database, and turns
that ran are ended at boot.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from functools import lru_cache
from itertools import takewhile

from sessions_app.bus.base import Bus, LogGap, SessionGone, StaleFence
from sessions_app.conf import conf
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import StatusIdle
from sessions_app.wire.payload import Entry

READ_LIMIT = 512
TICK_S = 1.0
ENTRY_OVERHEAD = 300
"""Bytes of an entry's objects; its JSON is held twice, once within the SSE frame."""
TRIM_TO = 0.9
"""Of the limit over all sessions, so that it is not at every end that some go."""


class LocalSubscription:
    """One reader: a future while it waits, a flag while it is busy."""

    __slots__ = (
        "_bell",
        "_heartbeat_s",
        "_is_rung",
        "_quiet_since",
        "_waiter",
        "is_lost",
        "key",
    )

    def __init__(self, bell: LocalBell, key: str, heartbeat_s: float) -> None:
        self._bell = bell
        self.key = key
        self._heartbeat_s = heartbeat_s
        self.is_lost = False
        self._is_rung = False
        self._quiet_since = time.monotonic()
        self._waiter: asyncio.Future[None] | None = None

    def __enter__(self) -> LocalSubscription:
        self._bell.add(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._bell.remove(self)

    async def ready(self) -> None:
        """Nothing to wait for: the bell is in this process."""

    def said(self) -> None:
        self._quiet_since = time.monotonic()

    async def wait(self) -> bool:
        if self._is_rung:
            self._is_rung = False
            return True
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        # It may have rung after a heartbeat had woken this reader.
        is_rung, self._is_rung = self._is_rung, False
        if not is_rung:
            self.said()  # the heartbeat
        return is_rung

    def ring(self) -> None:
        self._is_rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def tick(self, now: float) -> None:
        """Wake a reader that was told nothing for the length of a heartbeat."""
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if now - self._quiet_since >= self._heartbeat_s:
            waiter.set_result(None)


class LocalBell:
    """Rings the readers of this process directly: no queue that could overflow."""

    def __init__(self) -> None:
        self._readers: dict[str, set[LocalSubscription]] = {}
        self._ticker: asyncio.Task[None] | None = None

    def subscribe(self, session_id: str, heartbeat_s: float) -> LocalSubscription:
        return LocalSubscription(self, session_id, heartbeat_s)

    async def ring(self, session_id: str) -> None:
        for reader in self._readers.get(session_id, ()):
            reader.ring()

    def add(self, reader: LocalSubscription) -> None:
        self._readers.setdefault(reader.key, set()).add(reader)
        if self._ticker is None or self._ticker.done():
            self._ticker = asyncio.get_running_loop().create_task(self._tick())

    def remove(self, reader: LocalSubscription) -> None:
        readers = self._readers.get(reader.key, set())
        readers.discard(reader)
        if not readers:
            self._readers.pop(reader.key, None)

    def has_readers(self, session_id: str) -> bool:
        return session_id in self._readers

    async def _tick(self) -> None:
        """One timer for all heartbeats; it ends with the last reader."""
        while self._readers:
            await asyncio.sleep(TICK_S)
            self._beat()

    def _beat(self) -> None:
        now = time.monotonic()
        for readers in list(self._readers.values()):
            for reader in list(readers):
                reader.tick(now)


class _TurnEvents:
    __slots__ = ("entries", "is_ended", "size")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.size = 0
        self.is_ended = False

    @property
    def last_n(self) -> int:
        return self.entries[-1].cursor.n if self.entries else 0

    def add(self, entries: list[Entry]) -> int:
        """Keep what is new; how many bytes more are held."""
        last_n, before = self.last_n, self.size
        for entry in entries:
            if entry.cursor.n > last_n:
                last_n = entry.cursor.n
                self.entries.append(entry)
                self.size += 2 * len(entry.body) + len(entry.raw) + ENTRY_OVERHEAD
        self.is_ended = self.entries[-1].kind == StatusIdle.kind
        return self.size - before

    def after(self, n: int, limit: int) -> list[Entry]:
        if self.last_n == len(self.entries):  # contiguous from 1: n is the index
            return self.entries[n : n + limit]
        return [entry for entry in self.entries if entry.cursor.n > n][:limit]


class _SessionEvents:
    __slots__ = ("fence", "last_used", "trimmed_to", "turns")

    def __init__(self, first_ordinal: int) -> None:
        self.turns: OrderedDict[int, _TurnEvents] = OrderedDict()
        self.trimmed_to = first_ordinal - 1
        self.fence = (0, 0)
        self.last_used = 0.0

    @property
    def size(self) -> int:
        return sum(turn.size for turn in self.turns.values())

    def leave_before(self, ordinal: int) -> int:
        """A turn begins; the bytes let go.

        Where the one before it lacks its end, or was never written, its readers would
        step over that: they are sent to the database instead.
        """
        last = next(reversed(self.turns), self.trimmed_to)
        is_ended = last not in self.turns or self.turns[last].is_ended
        if is_ended and ordinal == last + 1:
            return 0
        size = self.size
        self.turns.clear()
        self.trimmed_to = ordinal - 1
        return size

    def trim(self, limit: int, keep: int = 1) -> int:
        """Drop whole ended turns, oldest first, but ``keep``; the bytes let go."""
        before = size = self.size
        while size > limit and len(self.turns) > keep:
            ordinal, turn = next(iter(self.turns.items()))
            if not turn.is_ended:
                break
            del self.turns[ordinal]
            self.trimmed_to = ordinal
            size -= turn.size
        return before - size


class MemoryLog:
    """A ring of whole turns for each session that was used lately."""

    may_be_behind = False

    def __init__(self, bell: LocalBell) -> None:
        self._bell = bell
        self._sessions: OrderedDict[str, _SessionEvents] = OrderedDict()
        self._size = 0
        self._dropped: OrderedDict[str, None] = OrderedDict()

    async def append(self, session_id: str, fence: int, entries: list[Entry]) -> None:
        if not entries or session_id in self._dropped:
            return
        ordinal = entries[0].cursor.turn
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = _SessionEvents(ordinal)
        if (ordinal, fence) < session.fence:
            raise StaleFence
        session.fence = (ordinal, fence)
        turn = session.turns.get(ordinal)
        if turn is None:
            self._size -= session.leave_before(ordinal)
            turn = session.turns[ordinal] = _TurnEvents()
            self._expire()
        self._size += turn.add(entries)
        session.last_used = time.monotonic()
        self._sessions.move_to_end(session_id)
        if turn.is_ended:
            self._size -= session.trim(conf().log_bytes)
            if self._size > conf().log_total_bytes:
                self._trim_all()

    def leave(self, session_id: str, ordinal: int, fence: int) -> None:
        """Nothing to let go of: what was written is the log."""

    async def read(
        self, session_id: str, after: Cursor, caught_up_to: int
    ) -> list[Entry]:
        session = self._sessions.get(session_id)
        if session is None:
            if session_id in self._dropped:
                raise SessionGone
            return []
        if session.trimmed_to > caught_up_to and after.turn <= session.trimmed_to:
            raise LogGap(session.trimmed_to)
        turn = session.turns.get(after.turn)
        if turn is not None and (found := turn.after(after.n, READ_LIMIT)):
            return found
        for ordinal, later in session.turns.items():
            if ordinal > after.turn and later.entries:
                return later.entries[:READ_LIMIT]
        return []

    async def head_n(self, session_id: str, ordinal: int) -> int:
        session = self._sessions.get(session_id)
        turn = session.turns.get(ordinal) if session else None
        return turn.last_n if turn else 0

    async def lacks(self, session_id: str, place: Cursor) -> bool:
        session = self._sessions.get(session_id)
        if session is not None and max(session.turns, default=0) > place.turn:
            return False
        return await self.head_n(session_id, place.turn) < place.n

    async def trimmed_to(self, session_id: str) -> int | None:
        session = self._sessions.get(session_id)
        return session.trimmed_to if session else None

    async def drop(self, session_id: str) -> None:
        session = self._sessions.pop(session_id, None)
        self._size -= session.size if session else 0
        self._dropped[session_id] = None
        while len(self._dropped) > 1000:
            self._dropped.popitem(last=False)

    def _expire(self) -> None:
        """Forget sessions that are quiet for long; the least used come first."""
        now = time.monotonic()
        oldest = now - conf().log_ttl_s
        quiet = takewhile(lambda s: s[1].last_used <= oldest, self._sessions.items())
        for session_id, session in list(quiet):
            is_ended = all(turn.is_ended for turn in session.turns.values())
            if is_ended and not self._bell.has_readers(session_id):
                del self._sessions[session_id]
                self._size -= session.size
            else:
                # Looked at again once the time is over, not at each new turn.
                session.last_used = now
                self._sessions.move_to_end(session_id)

    def _trim_all(self) -> None:
        """Drop ended turns, those of the least used sessions first."""
        for session_id, session in list(self._sessions.items()):
            if self._size <= conf().log_total_bytes * TRIM_TO:
                return
            self._size -= session.trim(0, keep=0)
            if not session.turns and not self._bell.has_readers(session_id):
                del self._sessions[session_id]


@lru_cache(maxsize=1)
def memory_bus() -> Bus:
    """The one bus of this process."""
    bell = LocalBell()
    return Bus(MemoryLog(bell), bell)
