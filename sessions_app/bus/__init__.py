"""The event log, which is the replay, and the bell, which only wakes readers."""

from __future__ import annotations

import asyncio

from django.conf import settings

from sessions_app.bus.base import Bell, Bus, EventLog, LogGap, StaleFence, Subscription
from sessions_app.bus.bell import SharedBell
from sessions_app.bus.memory import memory_bus
from sessions_app.bus.redis_log import FAILURES, RedisLog
from sessions_app.bus.redis_url import TIMEOUT_S, RedisUrl

__all__ = [
    "FAILURES",
    "TIMEOUT_S",
    "Bell",
    "Bus",
    "EventLog",
    "LogGap",
    "StaleFence",
    "Subscription",
    "close_bus",
    "get_bus",
    "redis_bus",
]


_shared: dict[asyncio.AbstractEventLoop, Bus] = {}


def get_bus() -> Bus:
    """The bus of this process; with Redis, that of the running event loop."""
    url = settings.REDIS_URL
    if not url:
        return memory_bus()
    loop = asyncio.get_running_loop()
    bus = _shared.get(loop)
    if bus is None:
        bus = _shared[loop] = redis_bus(url)
    return bus


def redis_bus(url: str) -> Bus:
    """A bus of its own on the Redis of that URL."""
    log = RedisLog(RedisUrl.parse(url).client())
    return Bus(log, SharedBell(log))


async def close_bus() -> None:
    """End the connections and tasks of the running loop's bus, if it has any."""
    bus = _shared.pop(asyncio.get_running_loop(), None)
    if bus is not None:
        await bus.close()
