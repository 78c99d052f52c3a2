"""The one writer of a turn's events."""

from __future__ import annotations

from sessions_app.bus import Bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import SessionEvent
from sessions_app.domain.route import TurnWork
from sessions_app.telemetry import counts
from sessions_app.wire.payload import DeltaEncoder, Entry


class Publisher:
    """Numbers the events of one turn and appends them, one append at a time.

    Its caller waits for the append, so at most one is in flight; what the provider
    sends meanwhile comes with the next read and goes out together.
    """

    def __init__(self, bus: Bus, work: TurnWork) -> None:
        self._bus = bus
        self._session_id = work.session_id
        self._ordinal = work.ordinal
        self._fence = work.fence
        self._deltas = DeltaEncoder(work.session_id, work.turn_id)
        self._next_n = work.progress.next_n
        self._seq = len(work.progress.shown)

    @property
    def next_n(self) -> int:
        """Where the next event will stand."""
        return self._next_n

    async def publish(self, *events: SessionEvent) -> None:
        """Append events in order; StaleFence if the claim was lost."""
        await self._append([Entry.of(self._place(), event) for event in events])

    async def publish_deltas(self, texts: list[str]) -> None:
        """Append each text as a MessageDelta with the next ``seq``."""
        entries = []
        for text in texts:
            self._seq += 1
            entries.append(self._deltas.entry(self._place(), self._seq, text))
        counts.deltas += len(texts)
        await self._append(entries)

    def _place(self) -> Cursor:
        place = Cursor(self._ordinal, self._next_n)
        self._next_n += 1
        return place

    async def _append(self, entries: list[Entry]) -> None:
        counts.appends += 1
        await self._bus.log.append(self._session_id, self._fence, entries)
        await self._bus.bell.ring(self._session_id)
