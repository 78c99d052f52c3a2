"""Finding turns that nobody works on, so that none stays open for ever."""

from __future__ import annotations

import logging
from contextlib import suppress

from sessions_app.bus import Bus, StaleFence
from sessions_app.conf import conf
from sessions_app.domain.announce import Announcement, requests_of
from sessions_app.domain.cursor import Cursor
from sessions_app.store import abandoned
from sessions_app.store.db import in_thread
from sessions_app.store.progress import waiting_turns
from sessions_app.telemetry import counts
from sessions_app.wire.payload import Entry

logger = logging.getLogger(__name__)

SWEEPER_FENCE = 2**31
"""Above any claim: after the sweeper's end, nothing of the turn may follow."""


async def sweep(bus: Bus, worker: str | None) -> list[str]:
    """End or requeue abandoned turns; gives the ids of turns that wait to be run.

    ``worker`` is the name of the only process there is, at its boot; else None.
    """
    heads = {
        turn_id: await bus.log.head_n(session_id, ordinal) or 0
        for turn_id, session_id, ordinal in await in_thread(
            abandoned.left_in_words, worker
        )
    }
    requeued, ended = await in_thread(abandoned.take_over, worker, heads)
    for ordinal, announcement in ended:
        logger.warning("Turn %s was left by its process.", announcement.turn_id)
        counts.turn_ended(announcement.end)
        await _announce(bus, ordinal, announcement)
    min_age_s = 0.0 if worker else conf().sweep_s
    waiting = await in_thread(abandoned.waiting, min_age_s)
    await in_thread(abandoned.forget_old_keys)
    return [*requeued, *waiting]


async def tell_waiting(bus: Bus) -> None:
    """Say again what waiting turns asked for, where the log does not have it.

    That of a new process is empty; one of several processes may have lost it, or its
    writer died before it said so. Nobody runs these turns, so nobody else would.
    """
    for turn in await in_thread(waiting_turns):
        end = Cursor(turn.ordinal, turn.next_n - 1)
        if not await bus.log.lacks(turn.session_id, end):
            continue
        events = requests_of(
            turn.session_id, turn.turn_id, turn.calls, conf().tool_wait_s
        )
        first_n = turn.next_n - len(events)
        entries = [
            Entry.of(Cursor(turn.ordinal, n), event)
            for n, event in enumerate(events, first_n)
        ]
        try:
            await bus.log.append(turn.session_id, turn.fence, entries)
        except StaleFence:
            continue  # it waits no more
        await bus.bell.ring(turn.session_id)


async def _announce(bus: Bus, ordinal: int, announcement: Announcement) -> None:
    first_n = announcement.end.terminal_n
    entries = [
        Entry.of(Cursor(ordinal, n), event)
        for n, event in enumerate(announcement.events(), first_n)
    ]
    # The next turn may have begun; then readers are told by the database.
    with suppress(StaleFence):
        await bus.log.append(announcement.session_id, SWEEPER_FENCE, entries)
    await bus.bell.ring(announcement.session_id)
