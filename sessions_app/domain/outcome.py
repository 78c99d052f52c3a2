"""How a turn ended, as it is stored and then announced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sessions_app.domain.states import TurnState
from sessions_app.domain.usage import PriceRule, Usage, add_usage


class CallStatus(StrEnum):
    """Where a tool call is; a started one is never run again."""

    STARTED = "started"
    REQUESTED = "requested"  # the client is to run it
    UNAPPROVED = "unapproved"  # somebody is to allow it
    APPROVED = "approved"
    COMPLETED = "completed"
    FAILED = "failed"


PENDING = (CallStatus.REQUESTED, CallStatus.UNAPPROVED)


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One request to one provider, as it is booked; times in milliseconds.

    ``number`` counts the attempts of the turn from 1; ``price`` is what it was charged
    at, None if it had no price.
    """

    number: int
    round_no: int
    provider: str
    model: str
    status: str
    usage: Usage
    duration_ms: int
    ttft_ms: int | None = None
    error_code: str = ""
    error_status: int | None = None
    diagnosis: str = ""
    stop_reason: str = ""
    price: PriceRule | None = None


def total_usage(attempts: Iterable[AttemptRecord]) -> Usage:
    """The sum over all attempts that used anything."""
    return add_usage(
        attempt.usage
        for attempt in attempts
        if attempt.status != "failed" or attempt.usage.tokens_in
    )


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A tool call as it is stored, in one of the statuses below.

    ``is_awaited`` says that somebody else had to run it or to allow it; ``raw`` is the
    provider's own message, if it was asked for, and is not stored.
    """

    call_id: str
    round_no: int
    position: int
    name: str
    arguments: dict[str, Any]
    status: str = CallStatus.STARTED
    result: str = ""
    error: str = ""
    duration_ms: int = 0
    is_awaited: bool = False
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class Progress:
    """What earlier claims of a turn came to.

    ``next_n`` is where its next event stands; ``round_texts`` is what the model said
    beside the calls of each round; ``shown`` are the deltas that went out. ``asked``
    are the calls that the turn waited for last, as they were then: their requests
    begin at ``next_n``, and may be in the log.
    """

    next_n: int = 1
    round_texts: tuple[str, ...] = ()
    calls: tuple[ToolCallRecord, ...] = ()
    attempts: tuple[AttemptRecord, ...] = ()
    shown: tuple[str, ...] = ()
    asked: tuple[ToolCallRecord, ...] = ()


NOT_BEGUN = Progress()


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The one end of a turn; ``terminal_n`` is where it stands in the log.

    ``text`` is None if the turn has no reply (it failed), else the stored text.
    ``operator`` is the name of the person who speaks in the agent's place, if one does.
    ``raw`` is the provider's message that ended the reply; it is told, and not stored.
    """

    state: TurnState
    terminal_n: int
    usage: Usage
    text: str | None = None
    stop_reason: str = ""
    digest: str = ""
    error_code: str = ""
    error: str = ""
    error_retryable: bool = False
    has_deltas: bool = False
    operator: str = ""
    raw: bytes = b""
    attempts: tuple[AttemptRecord, ...] = field(default=())
