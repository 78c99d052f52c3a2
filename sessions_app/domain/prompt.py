"""What a provider is asked: the request that every adapter translates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class PromptToolCall:
    """A tool call that the model made earlier."""

    call_id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PromptImage:
    """An image beside a user's text; ``data`` is base64."""

    media_type: str
    data: str


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of the prompt; a ``tool`` message answers ``tool_call_id``.

    ``turn`` is the ordinal of the turn that it is from, for Lantern's own use.
    """

    role: Role
    content: str = ""
    tool_calls: tuple[PromptToolCall, ...] = ()
    tool_call_id: str = ""
    turn: int = 0
    images: tuple[PromptImage, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as it is offered to the model; ``input_schema`` is JSON Schema."""

    name: str
    description: str
    input_schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the model may, must or must not call tools, or must call one by name."""

    mode: Literal["auto", "none", "required", "tool"] = "auto"
    name: str = ""


AUTO = ToolChoice()


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One call of one model.

    ``idempotency_key`` is the same for each retry of the same round by the same
    provider. With ``is_streaming`` False the adapter asks for the whole answer at
    once; it yields the same parts either way. ``with_raw`` asks for the provider's own
    messages beside them.
    """

    model: str
    messages: Sequence[PromptMessage]
    idempotency_key: str
    is_streaming: bool = True
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = AUTO
    max_output_tokens: int | None = None
    temperature: float | None = None
    with_raw: bool = False
