"""The one writer of a turn's events."""

from __future__ import annotations

from sessions_app.bus import Bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import SessionEvent
from sessions_app.wire.payload import Entry


class Publisher:
    """Numbers the events of one turn and appends them, one append at a time.

    Its caller waits for the append, so at most one is in flight; what the provider
    sends meanwhile comes with the next read and goes out together.
    """

    def __init__(self, bus: Bus, session_id: str, ordinal: int, fence: int) -> None:
        self._bus = bus
        self._session_id = session_id
        self._ordinal = ordinal
        self._fence = fence
        self._next_n = 1

    @property
    def next_n(self) -> int:
        """Where the next event will stand."""
        return self._next_n

    async def publish(self, *events: SessionEvent) -> None:
        """Append events in order; StaleFence if the claim was lost."""
        first, ordinal = self._next_n, self._ordinal
        self._next_n += len(events)
        entries = [
            Entry.of(Cursor(ordinal, n), event) for n, event in enumerate(events, first)
        ]
        await self._bus.log.append(self._session_id, self._fence, entries)
        await self._bus.bell.ring(self._session_id)
