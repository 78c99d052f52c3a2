"""What a process heard of a session lately, so that it need not ask for each event."""

from __future__ import annotations

from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import StatusIdle
from sessions_app.wire.payload import Entry

WIDTH = 256
"""So many events are kept of a turn, at most twice as many."""
SILENT_TICKS = 5
"""A turn that says nothing for so long may have ended without being heard."""
QUIET_TICKS = 60
"""As seldom the database is asked where the log shows no open turn: it may have been
emptied, or restored from an older state, and the writer may have died since."""


class Window:
    """The last events of one turn, without a gap, and the head of the log.

    ``head`` None means that the log itself must be asked.
    """

    __slots__ = (
        "_entries",
        "_patience",
        "_silent_ticks",
        "_was_behind",
        "head",
        "is_open",
    )

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._was_behind = False
        self.head: Cursor | None = None
        self.is_open = True
        """Whether a turn may be running."""
        self._begin_silence()

    def forget(self) -> None:
        """Ask the log from now on."""
        self._entries, self.head, self.is_open = [], None, True
        self._begin_silence()

    def add(self, entries: list[Entry]) -> None:
        """What the bell brought."""
        kept = self._entries
        first, last = entries[0].cursor, entries[-1].cursor
        if self.head is not None and last <= self.head:
            return
        continues = kept and kept[-1].cursor == (first.turn, first.n - 1)
        if continues:
            kept += entries
            if len(kept) > 2 * WIDTH:  # not at each event, of which there are many
                del kept[:-WIDTH]
        else:
            self._entries = entries
        self.head = last
        self.is_open = entries[-1].kind != StatusIdle.kind
        self._begin_silence()

    def after(self, cursor: Cursor, caught_up_to: int) -> list[Entry] | None:
        """The events after a cursor; None if only the log can tell."""
        if self.head is None:
            return None
        if cursor >= self.head:
            return []
        if not self._entries:
            return None
        first = self._entries[0].cursor
        if cursor.turn == first.turn and cursor.n >= first.n - 1:
            # Contiguous, but for the end that a sweeper wrote, which is the last.
            return self._entries[cursor.n - first.n + 1 :]
        is_next = cursor.turn < first.turn and caught_up_to >= first.turn - 1
        return list(self._entries) if is_next and first.n == 1 else None

    def compare(self, head: bytes | None) -> tuple[bool, bool]:
        """Whether to wake the readers, and whether the log may have lost something."""
        if head is None:
            if self.head is None:
                return self._count_silence()
            self.forget()
            return True, True
        parts = head.split(b"-")
        if len(parts) != 3:  # the session is gone
            self.forget()
            return True, False
        place = Cursor(int(parts[0]), int(parts[1]))
        if self.head is None or place > self.head:
            self._entries, self.head = [], place
            self.is_open = parts[2] == b"0"
            self._begin_silence()
            return True, False
        if place < self.head:
            # Once it may be that the bell was faster than this look.
            if self._was_behind:
                self.forget()
                return True, True
            self._was_behind = True
            return False, False
        self._was_behind = False
        return self._count_silence()

    def _begin_silence(self) -> None:
        self._silent_ticks, self._patience = 0, SILENT_TICKS

    def _count_silence(self) -> tuple[bool, bool]:
        """One tick more without a word; as ``compare``."""
        self._silent_ticks += 1
        if self._silent_ticks < self._patience:
            return False, False
        self._silent_ticks = 0
        if self.head is None or not self.is_open:
            self._patience = min(2 * self._patience, QUIET_TICKS)
        return True, True
