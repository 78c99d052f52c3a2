"""A claimed turn, with everything needed to run it: no database behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sessions_app.domain.budget import Allowance
from sessions_app.domain.context import UNKNOWN_WINDOW
from sessions_app.domain.outcome import NOT_BEGUN, Progress
from sessions_app.domain.prompt import AUTO, PromptMessage, ToolChoice, ToolSpec
from sessions_app.domain.tooling import ToolConfig
from sessions_app.domain.usage import PriceRule

TEXT, JSONL = OUTPUTS = ("text", "jsonl")
"""What the output of a provider that is a command may be."""


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """A configured account, as an adapter needs it; ``api_key`` is in the clear.

    A command, and where its output has the text, are only for the kind ``exec``, the
    name of a ``service`` only for ``openai``.
    """

    name: str
    kind: str
    base_url: str = ""
    api_key: str = ""
    allow_private: bool = False
    connect_timeout_s: float = 5.0
    first_content_timeout_s: float = 30.0
    idle_timeout_s: float = 30.0
    command: tuple[str, ...] = ()
    output: str = TEXT
    text_path: str = ""
    service: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One step of a route: an account, a model name, and its price if it has one.

    ``cool_until``, on the clock ``time.monotonic``, is how long the provider asked to
    be left alone; ``has_alert`` says that its operator was called; ``context_tokens``
    is how much it can be told, the reply included.
    """

    provider: ProviderConfig
    model: str
    price: PriceRule | None = None
    cool_until: float = 0.0
    has_alert: bool = False
    context_tokens: int = UNKNOWN_WINDOW

    @property
    def entry(self) -> str:
        """The step as a route names it."""
        return f"{self.provider.name}/{self.model}"


@dataclass(frozen=True, slots=True)
class TurnWork:
    """What one claim of a turn is to do; ``fence`` is the claim's number.

    ``tools`` are names: of ``stored_tools``, or of tools that are built in.
    ``allowances`` is what is reserved for the turn, empty unless it ``is_budgeted``.
    ``has_memory`` has what no longer fits into the window summarised.
    ``is_streaming_rounds`` shows text in turns with tools, too. ``is_again`` says that
    its question was answered before, or is to be. With an ``operator`` no model is
    asked: ``spoken`` is what that person says, empty if the turn brings them a message.
    ``with_raw`` brings the provider's own messages to who asked for them. What is
    ``is_unreadable`` is only to end.
    """

    turn_id: str
    session_id: str
    ordinal: int
    fence: int
    agent: str
    candidates: tuple[Candidate, ...]
    prompt: tuple[PromptMessage, ...]
    tools: tuple[str, ...] = ()
    stored_tools: Mapping[str, ToolConfig] = field(default_factory=dict)
    client_tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = AUTO
    is_streaming_rounds: bool = False
    progress: Progress = NOT_BEGUN
    canned_reply: str = ""
    max_output_tokens: int | None = None
    allowances: tuple[Allowance, ...] = ()
    is_budgeted: bool = False
    temperature: float | None = None
    has_memory: bool = False
    is_again: bool = False
    is_cancelled: bool = False
    operator: str = ""
    spoken: str = ""
    with_raw: bool = False
    is_unreadable: bool = False


def split_route_entry(text: str) -> tuple[str, str]:
    """``provider/model`` to its halves; the model may hold more slashes."""
    provider, slash, model = text.partition("/")
    if not slash or not provider or not model:
        raise ValueError(f"{text!r} is not of the form provider/model")
    return provider, model


def route_entry_fault(text: str) -> str:
    """Why a text is no step of a route; empty if it is one."""
    try:
        split_route_entry(text)
    except ValueError:
        return f"must be of the form provider/model, not {text!r}."
    return ""
