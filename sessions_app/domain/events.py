"""The public events of a session: a closed union of frozen facts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """Whole token sums of a turn; ``cost_usd`` None means a model without a price."""

    tokens_in: int
    tokens_out: int
    cost_usd: Decimal | None
    cached_tokens_in: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class StatusRunning:
    """Legacy: a turn is about to begin."""

    kind: ClassVar[str] = "session.status_running"
    session_id: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The turn begins; ``agent`` is the slug of the agent that answers.

    ``operator`` is left out unless a person speaks in the agent's place.
    """

    kind: ClassVar[str] = "turn_started"
    session_id: str
    turn_id: str
    agent: str
    operator: str = ""


@dataclass(frozen=True, slots=True)
class MessageDelta:
    """One text fragment; ``seq`` starts at 1 in each turn and has no gaps."""

    kind: ClassVar[str] = "message_delta"
    session_id: str
    turn_id: str
    seq: int
    delta: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The server runs a tool; ``arguments`` is always an object."""

    kind: ClassVar[str] = "tool_call_started"
    session_id: str
    turn_id: str
    round: int
    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallCompleted:
    """The tool's result, as the model gets it."""

    kind: ClassVar[str] = "tool_call_completed"
    session_id: str
    turn_id: str
    round: int
    call_id: str
    name: str
    result: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class ToolCallFailed:
    """The tool failed; the model gets the error and the turn goes on."""

    kind: ClassVar[str] = "tool_call_failed"
    session_id: str
    turn_id: str
    round: int
    call_id: str
    name: str
    error: str


@dataclass(frozen=True, slots=True)
class ToolCallRequested:
    """The client is to run one of its tools and to send the result."""

    kind: ClassVar[str] = "tool_call_requested"
    session_id: str
    turn_id: str
    round: int
    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolApprovalRequested:
    """The server runs this call once somebody has allowed it."""

    kind: ClassVar[str] = "tool_approval_requested"
    session_id: str
    turn_id: str
    round: int
    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnAwaitingTools:
    """The turn waits, at most ``wait_s`` seconds, for what was asked before this."""

    kind: ClassVar[str] = "turn_awaiting_tools"
    session_id: str
    turn_id: str
    wait_s: int


@dataclass(frozen=True, slots=True)
class MessageCompleted:
    """The reply is whole and stored; ``digest`` is the SHA-256 of its UTF-8, in hex.

    ``operator`` is the name of the person who wrote it, or who was given the message
    (``stop_reason`` ``handed_over``, the text empty); left out if there is none.
    """

    kind: ClassVar[str] = "message_completed"
    session_id: str
    turn_id: str
    text: str
    usage: UsageSummary
    stop_reason: str
    digest: str
    operator: str = ""


@dataclass(frozen=True, slots=True)
class MessageError:
    """The turn failed after at least one delta: discard its partial text."""

    kind: ClassVar[str] = "message_error"
    session_id: str
    turn_id: str
    error: str
    code: str


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The turn failed before any delta; ``retryable`` says if asking again may help."""

    kind: ClassVar[str] = "turn_failed"
    session_id: str
    turn_id: str
    error: str
    code: str
    retryable: bool


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """Legacy: the reply again after its end, or the canned reply of a failed turn."""

    kind: ClassVar[str] = "agent.message"
    session_id: str
    turn_id: str
    text: str


@dataclass(frozen=True, slots=True)
class StatusIdle:
    """Legacy: the turn is over."""

    kind: ClassVar[str] = "session.status_idle"
    session_id: str


TerminalEvent = MessageCompleted | MessageError | TurnFailed

SessionEvent = (
    StatusRunning
    | TurnStarted
    | MessageDelta
    | ToolCallStarted
    | ToolCallCompleted
    | ToolCallFailed
    | ToolCallRequested
    | ToolApprovalRequested
    | TurnAwaitingTools
    | TerminalEvent
    | AgentMessage
    | StatusIdle
)
