"""States of sessions and turns, and what may be asked of a busy session."""

from __future__ import annotations

from enum import StrEnum

MAX_QUEUED_TURNS = 8


class SessionStatus(StrEnum):
    """What a session shows to its readers."""

    IDLE = "idle"
    RUNNING = "running"
    AWAITING_TOOLS = "awaiting_tools"
    CLOSED = "closed"


class TurnState(StrEnum):
    """Where a turn is; the last three are its ends."""

    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_TOOLS = "awaiting_tools"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


OPEN_STATES = (TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_TOOLS)
ACTIVE_STATES = (TurnState.RUNNING, TurnState.AWAITING_TOOLS)


class OnBusy(StrEnum):
    """What a message gets that is sent while a turn runs."""

    QUEUE = "queue"
    REJECT = "reject"
    INTERRUPT = "interrupt"
