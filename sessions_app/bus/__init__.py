"""The event log, which is the replay, and the bell, which only wakes readers."""

from __future__ import annotations

from sessions_app.bus.base import Bell, Bus, EventLog, LogGap, StaleFence, Subscription
from sessions_app.bus.memory import memory_bus

__all__ = [
    "Bell",
    "Bus",
    "EventLog",
    "LogGap",
    "StaleFence",
    "Subscription",
    "get_bus",
]


def get_bus() -> Bus:
    """The bus of this process."""
    return memory_bus()
