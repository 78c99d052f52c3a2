"""Counters of the last minute, one for all processes.

A minute is counted in slots of five seconds that slide, so no 60 seconds ever hold more
than the limit; in return a place is free again after 60 to 65. What is refused does not
count: whoever keeps asking gets in as soon as whoever waits.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from django.conf import settings
from redis import Redis

from sessions_app.bus.redis_log import FAILURES
from sessions_app.bus.redis_url import RedisUrl

WINDOW_S = 60
SLOT_S = 5
SLOTS = WINDOW_S // SLOT_S + 1
MOST_COUNTERS = 200_000
"""In one process's memory, about 50 MB; the one used longest ago goes first."""
TAKE = (Path(__file__).parent / "lua" / "take.lua").read_text()


@dataclass(frozen=True, slots=True)
class Quota:
    """A counter and its limit; None only counts, and ``amount`` 0 only looks."""

    name: str
    limit: int | None
    amount: int = 1


@dataclass(frozen=True, slots=True)
class Taken:
    """``full`` is the index of a quota that had no room, -1 if all had.

    ``totals`` are what the counters say now; ``wait_s`` is when to come back.
    """

    full: int
    wait_s: float
    totals: tuple[int, ...]


class Counters(Protocol):
    """Counts on all quotas or, if one of them is full, on none."""

    def take(self, quotas: Sequence[Quota]) -> Taken: ...


class MemoryCounters:
    """The counters of one process; safe for threads."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        slot_s: float = SLOT_S,
        most_counters: int = MOST_COUNTERS,
    ) -> None:
        self._clock = clock
        self._slot_s = slot_s
        self._most = most_counters
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, dict[int, int]] = OrderedDict()

    def take(self, quotas: Sequence[Quota]) -> Taken:
        """Count, or say what is full."""
        with self._lock:
            now = self._clock()
            slot = int(now // self._slot_s)
            kept = [self._kept(quota.name, slot) for quota in quotas]
            totals = [sum(counts.values()) for counts in kept]
            for index, (quota, counts) in enumerate(zip(quotas, kept, strict=True)):
                wait_s = self._wait_s(quota, counts, totals[index], now)
                if wait_s is not None:
                    return Taken(index, wait_s, tuple(totals))
            for index, quota in enumerate(quotas):
                if quota.amount:
                    self._count(quota, kept[index], slot)
                    totals[index] += quota.amount
            return Taken(-1, 0.0, tuple(totals))

    def _kept(self, name: str, slot: int) -> dict[int, int]:
        counts = self._slots.get(name, {})
        for old in [each for each in counts if each <= slot - SLOTS]:
            del counts[old]
        return counts

    def _count(self, quota: Quota, counts: dict[int, int], slot: int) -> None:
        counts[slot] = counts.get(slot, 0) + quota.amount
        self._slots[quota.name] = counts
        self._slots.move_to_end(quota.name)
        if len(self._slots) > self._most:
            self._slots.popitem(last=False)

    def _wait_s(
        self, quota: Quota, counts: dict[int, int], total: int, now: float
    ) -> float | None:
        """Seconds until the quota has room; None if it has."""
        if quota.limit is None or total + quota.amount <= quota.limit:
            return None
        for slot in sorted(counts):
            total -= counts[slot]
            if total + quota.amount <= quota.limit:
                return (slot + SLOTS) * self._slot_s - now
        return SLOTS * self._slot_s


class SharedCounters:
    """Counters in Redis; while it is away each process counts what comes to it."""

    def __init__(self, client: Redis, slot_s: float = SLOT_S) -> None:
        self._script = client.register_script(TAKE)
        self._own = MemoryCounters(slot_s=slot_s)
        self._slot_s = slot_s

    def take(self, quotas: Sequence[Quota]) -> Taken:
        """Count, or say what is full."""
        arguments: list[float] = [self._slot_s, SLOTS]
        for quota in quotas:
            limit = -1 if quota.limit is None else quota.limit
            arguments += [limit, quota.amount]
        keys = [f"lantern:pace:{quota.name}" for quota in quotas]
        try:
            full, wait_s, *totals = self._script(keys=keys, args=arguments)
        except FAILURES:
            return self._own.take(quotas)
        return Taken(int(full) - 1, float(wait_s), tuple(map(int, totals)))


@lru_cache(maxsize=2)
def counters_at(redis_url: str) -> Counters:
    """The counters behind a URL of Redis, or of this process if it is empty."""
    if not redis_url:
        return MemoryCounters()
    return SharedCounters(RedisUrl.parse(redis_url).blocking_client())


def get_counters() -> Counters:
    """The counters of this installation."""
    return counters_at(settings.REDIS_URL)
