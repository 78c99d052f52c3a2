"""How a turn ended, as it is stored and then announced."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions_app.domain.states import TurnState
from sessions_app.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One request to one provider, as it is booked; times in milliseconds.

    ``number`` counts the attempts of the turn from 1.
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


@dataclass(frozen=True, slots=True)
class ToolCallRecord:
    """A tool call as it is stored; ``status`` is started, completed or failed."""

    call_id: str
    round_no: int
    position: int
    name: str
    arguments: dict[str, object]
    status: str = "started"
    result: str = ""
    error: str = ""
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The one end of a turn; ``terminal_n`` is where it stands in the log.

    ``text`` is None if the turn has no reply (it failed), else the stored text.
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
    attempts: tuple[AttemptRecord, ...] = field(default=())
