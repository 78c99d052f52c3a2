"""Removing conversations whose time is over, a few at a time."""

from __future__ import annotations

import asyncio

from sessions_app.bus import Bus
from sessions_app.store import retention
from sessions_app.store.db import in_thread

PAUSE_S = 0.1
"""Between two batches, for others that want to write."""


async def purge(bus: Bus) -> int:
    """Purge all that is due; how many conversations that were.

    Any number of processes may do it at once: each takes what the others have not
    locked.
    """
    count = 0
    while found := await in_thread(retention.purge_some):
        count += len(found)
        for session_id in found:
            await bus.log.drop(session_id)
            await bus.bell.ring(session_id)
        await asyncio.sleep(PAUSE_S)
    return count
