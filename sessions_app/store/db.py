"""Running a store function from the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connections

from sessions_app.conf import conf

P = ParamSpec("P")
R = TypeVar("R")

QUIET_S = 10.0


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    # Connections are as many as threads, whatever waits or streams.
    # SQLite has one writer: more threads than two only wait for it, and each other.
    return ThreadPoolExecutor(conf().database_threads, thread_name_prefix="store")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a blocking function on one of the store's threads."""
    call = partial(_call, partial(function, *args, **kwargs))
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


def _call(function: Callable[[], R]) -> R:
    close_old_connections()
    try:
        return function()
    finally:
        close_old_connections()


async def quiet() -> None:
    """Return once no query runs on these threads.

    A task that is cancelled does not stop its query.
    """
    count = conf().database_threads
    barrier = threading.Barrier(count, timeout=QUIET_S)
    await asyncio.gather(*(in_thread(barrier.wait) for _ in range(count)))


def close_threads() -> None:
    """Close the connections of the store's threads and end them."""
    threads = _threads()
    for future in [threads.submit(connections.close_all) for _ in range(32)]:
        future.result()
    threads.shutdown()
    _threads.cache_clear()
