"""The one reader of a session's events: catches up, then follows.

SSE, WebSocket and every dialect take their events from here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from functools import partial

from django.db import Error as DatabaseFault

from sessions_app.bus import Bus, LogGap
from sessions_app.bus.base import SessionGone
from sessions_app.conf import conf
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import StatusIdle, TerminalEvent
from sessions_app.store import replay
from sessions_app.store.replay import END_OF_TURN
from sessions_app.store.together import Together, once, or_error
from sessions_app.wire.payload import Entry

Place = tuple[str, Cursor, int | None]
Told = tuple[list[tuple[Cursor, TerminalEvent]], int, bool]


async def tail(
    bus: Bus, session_id: str, after: Cursor, *, is_new: bool = False
) -> AsyncGenerator[list[Entry], None]:
    """Yield every event after a cursor, once and in order, as batches.

    The first batch is empty and says that the subscription stands; later empty ones
    are heartbeats. Ends when the session is deleted. ``is_new`` says that the turn
    of the cursor was accepted only now, so that nothing after it can have ended.
    """
    with bus.bell.subscribe(session_id, conf().heartbeat_s) as place:
        await place.ready()
        yield []
        cursor = after
        begun = await _beginning(bus, session_id, after, is_new)
        entries, caught_up_to, is_more = begun
        while True:
            if entries:
                cursor = entries[-1].cursor
                yield entries
                place.said()
            if is_more:
                told = Cursor(caught_up_to, END_OF_TURN)
                entries, caught_up_to, is_more = await _ends(bus, session_id, told)
                continue
            try:
                entries = await bus.log.read(session_id, cursor, caught_up_to)
            except LogGap:
                entries, caught_up_to, is_more = await _ends(bus, session_id, cursor)
                continue
            except SessionGone:
                return
            if entries:
                caught_up_to = max(caught_up_to, _whole_turns(entries[-1]))
                continue
            while not await place.wait():
                yield []
            if place.is_lost:
                place.is_lost = False
                missed = await _missed(bus, session_id, cursor, caught_up_to)
                entries, caught_up_to, is_more = missed


async def _beginning(
    bus: Bus, session_id: str, after: Cursor, is_new: bool
) -> tuple[list[Entry], int, bool]:
    """What the database tells a new reader, as ``_ends`` does."""
    if after.n == END_OF_TURN:
        return [], after.turn, False
    trimmed_to = await bus.log.trimmed_to(session_id)
    if is_new or (trimmed_to is not None and trimmed_to < after.turn):
        return [], after.turn - 1, False
    return await _ends(bus, session_id, after)


async def _ends(
    bus: Bus, session_id: str, after: Cursor
) -> tuple[list[Entry], int, bool]:
    """The next ends of turns that the log does not hold.

    Also the ordinal up to which the reader is told then, and whether there are more.
    """
    trimmed_to = await bus.log.trimmed_to(session_id)
    entries, told_to, is_more = await _from_database(session_id, after, trimmed_to)
    logged_after = await bus.log.trimmed_to(session_id)
    if logged_after is not None and logged_after <= told_to:
        # The log may have begun meanwhile: what it holds is told from there.
        entries = [entry for entry in entries if entry.cursor.turn <= logged_after]
        told_to, is_more = logged_after, False
    return entries, told_to, is_more


async def _missed(
    bus: Bus, session_id: str, after: Cursor, caught_up_to: int
) -> tuple[list[Entry], int, bool]:
    """As ``_ends``, of turns whose end the log may never show.

    The process died between commit and append, or the log lost what it had.
    """
    nothing: tuple[list[Entry], int, bool] = [], caught_up_to, False
    try:
        entries, told_to, is_more = await _from_database(session_id, after, None)
    except DatabaseFault:
        return nothing  # a stream goes on while the database is down
    if not entries:
        return nothing
    try:
        is_logged = await bus.log.read(session_id, after, caught_up_to)
    except (LogGap, SessionGone):
        return nothing
    return nothing if is_logged else (entries, max(told_to, caught_up_to), is_more)


def _whole_turns(entry: Entry) -> int:
    """The ordinal up to which a reader of this event has seen everything."""
    is_end = entry.kind == StatusIdle.kind
    return entry.cursor.turn if is_end else entry.cursor.turn - 1


def _look(asked: Sequence[Place]) -> list[Told | Exception]:
    return [
        or_error(partial(once, place, partial(replay.ended_turns, *place)))
        for place in asked
    ]


# Where the database is down each look takes seconds, and streams wait for theirs.
_looks: Together[Place, Told] = Together(_look)


async def _from_database(
    session_id: str, after: Cursor, up_to: int | None
) -> tuple[list[Entry], int, bool]:
    ends, told_to, is_more = await _looks.call((session_id, after, up_to))
    return [Entry.of(cursor, event) for cursor, event in ends], told_to, is_more
