"""What a log and a bell must do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sessions_app.domain.cursor import Cursor
from sessions_app.wire.payload import Entry


class StaleFence(Exception):
    """A writer that lost its claim tried to append."""


class LogGap(Exception):
    """Events after the reader's cursor are no longer in the log.

    ``trimmed_to`` is the ordinal of the last turn that is gone.
    """

    def __init__(self, trimmed_to: int) -> None:
        super().__init__(trimmed_to)
        self.trimmed_to = trimmed_to


class SessionGone(Exception):
    """The session was deleted; its readers are done."""


class EventLog(Protocol):
    """The ordered events of each session, for a while."""

    may_be_behind: bool
    """Whether it can lose a turn's last events and keep the ones before.

    So does a Redis that is restored from an older state, until the turn's writer has
    appended again.
    """

    async def append(self, session_id: str, fence: int, entries: list[Entry]) -> None:
        """Add the next events of a turn; StaleFence if a newer claim has written.

        An entry that is not newer than the last one is dropped, so that appending
        the same again does no harm.
        """
        ...

    def leave(self, session_id: str, ordinal: int, fence: int) -> None:
        """Tell that this claim of a turn writes nothing more, ended or not."""
        ...

    async def read(
        self, session_id: str, after: Cursor, caught_up_to: int
    ) -> list[Entry]:
        """Events after a cursor, in order, at most some hundred at a time.

        ``caught_up_to`` is the ordinal up to which the reader was told of ended turns
        already. Raises LogGap if the log has lost more than that, SessionGone once
        the session is dropped.
        """
        ...

    async def head_n(self, session_id: str, ordinal: int) -> int | None:
        """The last ``n`` of a turn in the log; 0 if it is not there.

        None if the log cannot tell: it is out of reach, or knows nothing of the
        session.
        """
        ...

    async def lacks(self, session_id: str, place: Cursor) -> bool:
        """Whether the log does not reach an event; False if it cannot tell."""
        ...

    async def trimmed_to(self, session_id: str) -> int | None:
        """The last turn that is gone from the log; None if the log holds nothing."""
        ...

    async def drop(self, session_id: str) -> None:
        """Forget the session and let its readers go."""
        ...


class Subscription(Protocol):
    """One reader's place at the bell; use as a context manager."""

    is_lost: bool
    """Set when the log may have lost events: the reader asks the database."""

    async def ready(self) -> None:
        """Return once rings are heard."""
        ...

    def __enter__(self) -> Subscription: ...

    def __exit__(self, *exc_info: object) -> None: ...

    def said(self) -> None:
        """Something went to the reader: the next heartbeat is due its length later."""
        ...

    async def wait(self) -> bool:
        """Sleep until something may be new (True) or a heartbeat is due (False)."""
        ...


class Bell(Protocol):
    """Wakes the readers of a session; a hint, never the carrier."""

    def subscribe(self, session_id: str, heartbeat_s: float) -> Subscription:
        """A place at the bell; rings from entering on are not missed."""
        ...

    async def ring(self, session_id: str) -> None:
        """Something was appended."""
        ...


@dataclass(frozen=True, slots=True)
class Bus:
    """A log and the bell that belongs to it."""

    log: EventLog
    bell: Bell

    async def close(self) -> None:
        """End connections and tasks, if there are any."""
        for part in (self.bell, self.log):
            if close := getattr(part, "close", None):
                await close()
