"""What a provider adapter yields: the one vocabulary behind all API families."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class StopReason(StrEnum):
    """Why a reply ended, as clients see it."""

    STOP = "stop"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    CANCELLED = "cancelled"
    TOOL_ROUNDS = "tool_rounds"
    HANDED_OVER = "handed_over"  # an operator has it; no model was asked
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TextPart:
    """Visible text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """Hidden reasoning: progress, but never shown, stored or sent back."""

    text: str


@dataclass(frozen=True, slots=True)
class RawPart:
    """The provider's own message, as JSON, that the text parts after it are from.

    Only where it was asked for; so, too, is ``raw`` of the parts below, else empty.
    """

    message: bytes


@dataclass(frozen=True, slots=True)
class ToolCallReady:
    """A whole tool call; ``arguments`` is a JSON object, or ``error`` says why not."""

    call_id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    raw: bytes = b""


@dataclass(frozen=True, slots=True)
class UsagePart:
    """Token counts of one provider call; later parts replace earlier fields.

    ``tokens_in`` and ``tokens_out`` are whole sums: cached and reasoning tokens
    are included. None means that the provider has not said.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    cached_tokens_in: int | None = None
    cache_write_tokens_in: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class FinishPart:
    """The provider's own end of the reply.

    ``is_tool_calls`` marks an end that asks for tools; ``model`` is the name the
    provider answered under, empty if it gave none.
    """

    reason: StopReason
    is_tool_calls: bool = False
    model: str = ""
    raw: bytes = b""


Part = TextPart | ReasoningPart | RawPart | ToolCallReady | UsagePart | FinishPart
