"""Threads for plain functions that may hang.

Daemon threads, one a call: those of a pool are waited for when the process ends, and
a function that never returns would keep it from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from django.db import DatabaseError, connections

Came = tuple[Any, BaseException | None]
"""What a function returned, or what it raised."""

THREADS = 16
"""At once; none of them is the server's own: a function that hangs takes only these."""


class AllHeld(Exception):
    """Every thread belongs to a call that nobody waits for any more."""


class Threads:
    """The threads of one event loop."""

    def __init__(self, count: int = THREADS) -> None:
        self._count = count
        self._free = asyncio.Semaphore(count)
        self._left = 0  # calls that went on when their callers left

    async def run(self, function: Callable[[], Any]) -> Any:
        """The function's result, or what it raises.

        Waits while all threads are busy; AllHeld once none of their calls has a
        caller, as then none may ever come free.
        """
        if self._left >= self._count:
            raise AllHeld
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Came] = loop.create_future()
        work = threading.Thread(
            target=self._work, args=(function, loop, outcome), daemon=True, name="tool"
        )
        try:
            work.start()
        except RuntimeError:  # the machine has no thread left
            self._free.release()
            raise
        try:
            result, error = await outcome
        except asyncio.CancelledError:
            # Not so if the function returned just before.
            self._left += outcome.cancelled()
            raise
        if error is None:
            return result
        if isinstance(error, Exception):
            raise error
        # SystemExit and its like are meant for the thread, not for the server.
        raise RuntimeError(f"the function ended with {error!r}") from error

    def _work(
        self,
        function: Callable[[], Any],
        loop: asyncio.AbstractEventLoop,
        outcome: asyncio.Future[Came],
    ) -> None:
        try:
            came: Came = function(), None
        except BaseException as error:
            came = None, error
        with suppress(DatabaseError):
            connections.close_all()  # else a pool would miss them
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._end, outcome, came)

    def _end(self, outcome: asyncio.Future[Came], came: Came) -> None:
        self._free.release()
        if outcome.cancelled():
            self._left -= 1
        else:
            outcome.set_result(came)


_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, Threads] = WeakKeyDictionary()


def threads() -> Threads:
    """Those of the running loop."""
    return _of_loops.setdefault(asyncio.get_running_loop(), Threads())
