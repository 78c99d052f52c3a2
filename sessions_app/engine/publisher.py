"""The one writer of a turn's events."""

from __future__ import annotations

from collections.abc import Sequence

from sessions_app.bus import Bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import SessionEvent
from sessions_app.domain.route import TurnWork
from sessions_app.telemetry import counts
from sessions_app.wire.payload import DeltaEncoder, Entry

MAX_RAW_BYTES = 4 * 1024 * 1024


class Publisher:
    """Numbers the events of one turn and appends them, one append at a time.

    Its caller waits for the append, so at most one is in flight; what the provider
    sends meanwhile comes with the next read and goes out together. ``raws`` are the
    provider's messages behind the first events, at most MAX_RAW_BYTES in all.
    """

    def __init__(self, bus: Bus, work: TurnWork) -> None:
        self._bus = bus
        self._session_id = work.session_id
        self._ordinal = work.ordinal
        self._fence = work.fence
        self._deltas = DeltaEncoder(work.session_id, work.turn_id)
        self._next_n = work.progress.next_n
        self._seq = len(work.progress.shown)
        self._raw_room = MAX_RAW_BYTES

    @property
    def next_n(self) -> int:
        """Where the next event will stand."""
        return self._next_n

    async def publish(self, *events: SessionEvent, raws: Sequence[bytes] = ()) -> None:
        """Append events in order; StaleFence if the claim was lost."""
        entries = [Entry.of(self._place(), event) for event in events]
        self._add_raws(entries, raws)
        await self._append(entries)

    async def publish_deltas(
        self, texts: list[str], raws: Sequence[bytes] = ()
    ) -> None:
        """Append each text as a MessageDelta with the next ``seq``."""
        entries = []
        for text in texts:
            self._seq += 1
            entries.append(self._deltas.entry(self._place(), self._seq, text))
        if raws:
            self._add_raws(entries, raws)
        counts.deltas += len(texts)
        await self._append(entries)

    def leave(self) -> None:
        """Nothing more is published."""
        self._bus.log.leave(self._session_id, self._ordinal, self._fence)

    def _add_raws(self, entries: list[Entry], raws: Sequence[bytes]) -> None:
        for entry, raw in zip(entries, raws, strict=False):
            if len(raw) <= self._raw_room:
                self._raw_room -= len(raw)
                entry.raw = raw

    def _place(self) -> Cursor:
        place = Cursor(self._ordinal, self._next_n)
        self._next_n += 1
        return place

    async def _append(self, entries: list[Entry]) -> None:
        counts.appends += 1
        await self._bus.log.append(self._session_id, self._fence, entries)
        await self._bus.bell.ring(self._session_id)
