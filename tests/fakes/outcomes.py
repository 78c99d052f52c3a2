"""What came of a reply, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from sessions_app.domain.errors import ProviderError
from sessions_app.domain.parts import (
    FinishPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallReady,
    UsagePart,
)
from sessions_app.domain.prompt import CompletionRequest, PromptMessage
from sessions_app.domain.route import ProviderConfig
from sessions_app.domain.usage import merge_usage
from sessions_app.providers.anthropic.stream import MessageStream
from sessions_app.providers.base import ProviderAdapter
from sessions_app.providers.openai.stream import ReplyStream
from sessions_app.providers.tool_calls import ToolCallAssembler


@dataclass
class Outcome:
    """All parts of one reply in order, and the error that ended it, if any."""

    parts: list[Part] = field(default_factory=list)
    error: ProviderError | None = None
    batches: list[list[Part]] = field(default_factory=list)

    @property
    def deltas(self) -> list[str]:
        return [part.text for part in self.parts if isinstance(part, TextPart)]

    @property
    def text(self) -> str:
        return "".join(self.deltas)

    @property
    def reasoning(self) -> str:
        parts = self.parts
        return "".join(part.text for part in parts if isinstance(part, ReasoningPart))

    @property
    def calls(self) -> list[ToolCallReady]:
        return [part for part in self.parts if isinstance(part, ToolCallReady)]

    @property
    def usage(self) -> UsagePart:
        found = UsagePart()
        for part in self.parts:
            if isinstance(part, UsagePart):
                found = merge_usage(found, part)
        return found

    @property
    def finish(self) -> FinishPart | None:
        ends = [part for part in self.parts if isinstance(part, FinishPart)]
        assert len(ends) <= 1
        assert not ends or self.parts[-1] is ends[0]
        return ends[0] if ends else None

    def key(self) -> tuple[list[Part], str]:
        """Equal for equal outcomes."""
        error = self.error
        return self.parts, f"{type(error).__name__} {error.status}" if error else ""


def call_ids() -> Iterator[str]:
    """made_1, made_2 and so on."""
    return (f"made_{number}" for number in count(1))


def read_reply(
    reads: Iterable[bytes],
    *,
    has_ended: bool = True,
    family: type[ReplyStream] | type[MessageStream] = ReplyStream,
) -> Outcome:
    """Feed these reads to a reply of a family, with no socket."""
    ids = call_ids()
    stream, outcome = family("", ToolCallAssembler(lambda: next(ids))), Outcome()
    for raw in reads:
        outcome.parts += stream.feed(raw)
        if stream.is_done:
            break
    if has_ended:
        outcome.parts += stream.end()
    outcome.error = stream.error
    return outcome


async def collect(
    adapter: ProviderAdapter, config: ProviderConfig, request: CompletionRequest
) -> Outcome:
    """All that an adapter yields and raises."""
    outcome = Outcome()
    try:
        async for batch in adapter.stream(config, request):
            outcome.batches.append(batch)
            outcome.parts += batch
    except ProviderError as error:
        outcome.error = error
    return outcome


def ask(
    text: str = "hi", *, is_streaming: bool = True, **more: object
) -> CompletionRequest:
    """A request with one user message."""
    return CompletionRequest(
        model="gpt-x",
        messages=[PromptMessage("user", text)],
        idempotency_key="key-1",
        is_streaming=is_streaming,
        **more,  # type: ignore[arg-type]
    )
