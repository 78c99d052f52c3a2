"""One round: the candidates of the route in turn, while nothing was shown."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import ParamSpec

from django.db import Error as DatabaseFault

from sessions_app.conf import conf
from sessions_app.domain.context import fitting, room_for_prompt
from sessions_app.domain.errors import BadResponse, ProviderError, ProviderUnreachable
from sessions_app.domain.parts import (
    FinishPart,
    Part,
    RawPart,
    ReasoningPart,
    StopReason,
    TextPart,
    ToolCallReady,
    UsagePart,
)
from sessions_app.domain.policy import may_fail_over, worth_asking
from sessions_app.domain.prompt import (
    AUTO,
    CompletionRequest,
    PromptMessage,
    ToolChoice,
    ToolSpec,
)
from sessions_app.domain.route import Candidate
from sessions_app.engine.deadline import Deadline
from sessions_app.engine.meter import AttemptMeter, Book
from sessions_app.providers.base import ProviderAdapter
from sessions_app.store import health
from sessions_app.store.db import in_thread

logger = logging.getLogger(__name__)

MIN_DELTA_SIZE = 4

P = ParamSpec("P")

ShowText = Callable[[list[str], list[bytes]], Awaitable[None]]
"""Takes texts and, if they were asked for, the provider's message of each."""
FindAdapter = Callable[[str], ProviderAdapter]


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What one round asks, whoever answers it.

    ``show`` None keeps the text back and asks for the whole answer at once;
    ``may_be_empty`` accepts an end without a word. ``deltas_before`` went out in the
    turn's earlier rounds: after them nothing may fail over. ``with_raw`` asks for the
    provider's own messages.
    """

    turn_id: str
    round_no: int
    messages: Sequence[PromptMessage]
    tools: Sequence[ToolSpec] = ()
    tool_choice: ToolChoice = AUTO
    max_output_tokens: int | None = None
    temperature: float | None = None
    show: ShowText | None = None
    deltas_before: int = 0
    may_be_empty: bool = False
    with_raw: bool = False

    def request(self, candidate: Candidate) -> CompletionRequest:
        """The request to one candidate, under a key that retries of it share."""
        name = candidate.provider.name
        step = f"{self.turn_id}/{self.round_no}/{name}/{candidate.model}"
        room = room_for_prompt(
            candidate.context_tokens, self.max_output_tokens, self.tools
        )
        messages, _ = fitting(self.messages, room)
        return CompletionRequest(
            model=candidate.model,
            messages=messages,
            idempotency_key=hashlib.sha256(step.encode()).hexdigest()[:40],
            is_streaming=self.show is not None,
            tools=self.tools,
            tool_choice=self.tool_choice,
            max_output_tokens=self.max_output_tokens,
            temperature=self.temperature,
            with_raw=self.with_raw,
        )


@dataclass(slots=True)
class RoundReply:
    """What came of a round."""

    texts: list[str] = field(default_factory=list)
    tool_calls: list[ToolCallReady] = field(default_factory=list)
    stop_reason: StopReason = StopReason.UNKNOWN
    deltas_sent: int = 0
    size: int = 0  # in characters, small deltas counted as MIN_DELTA_SIZE
    raw: bytes = b""  # the provider's message that ended it

    @property
    def text(self) -> str:
        return "".join(self.texts)


async def run_with_failover(
    plan: RoundPlan,
    candidates: Sequence[Candidate],
    find_adapter: FindAdapter,
    book: Book,
) -> RoundReply:
    """Ask the candidates in order; raises the last ProviderError if none answers.

    BudgetExceeded comes before an attempt that could not be paid for.
    """
    last_error: ProviderError | None = None
    for candidate in worth_asking(candidates, book.cool_downs, time.monotonic()):
        reply = RoundReply()
        try:
            await _attempt(plan, candidate, find_adapter, book, reply)
        except ProviderError as error:
            last_error = error
            await _report(candidate, error, book)
            if not may_fail_over(error, plan.deltas_before + reply.deltas_sent):
                raise
        else:
            if candidate.has_alert:
                await _note(health.dismiss, candidate.provider.name)
            return reply
    raise last_error or ProviderUnreachable("No model provider is set up.")


async def _attempt(
    plan: RoundPlan,
    candidate: Candidate,
    find_adapter: FindAdapter,
    book: Book,
    reply: RoundReply,
) -> None:
    config, request = candidate.provider, plan.request(candidate)
    await book.open(request, candidate)
    meter = AttemptMeter(candidate, request, plan.round_no)
    deadline = Deadline(config.first_content_timeout_s, config.idle_timeout_s)
    status, failure = "failed", None
    try:
        with deadline:
            adapter = find_adapter(config.kind)
            async with aclosing(adapter.stream(config, request)) as batches:
                async for parts in batches:
                    await _take(parts, plan, reply, meter, deadline)
                    if reply.size > conf().max_reply_characters:
                        reply.stop_reason = StopReason.LENGTH
                        break
            if not plan.may_be_empty:
                _require_content(plan, reply)
        status = "completed"
    except ProviderError as error:
        failure = error
        raise
    except asyncio.CancelledError:
        status = "cancelled"
        raise
    finally:
        elapsed_ms = deadline.elapsed_ms()
        why = str(reply.stop_reason) if status == "completed" else ""
        book.add(meter.record(book.next_number, status, elapsed_ms, failure, why))


async def _take(
    parts: list[Part],
    plan: RoundPlan,
    reply: RoundReply,
    meter: AttemptMeter,
    deadline: Deadline,
) -> None:
    texts: list[str] = []
    for part in parts:
        match part:
            case TextPart(text):
                meter.saw_text(text, deadline)
                texts.append(text)
                reply.size += max(MIN_DELTA_SIZE, len(text))
            case ReasoningPart(text):
                meter.saw_text(text, deadline)
                deadline.touch()
            case UsagePart():
                meter.saw_usage(part)
            case ToolCallReady():
                reply.tool_calls.append(part)
                deadline.touch()
            case FinishPart(reason):
                reply.stop_reason, reply.raw = reason, part.raw
    if texts:
        deadline.touch()
        if plan.show is not None:
            # Counted first: once the log has been asked, a delta may be out.
            reply.deltas_sent += len(texts)
            await plan.show(texts, _raws_of(parts) if plan.with_raw else [])
        reply.texts += texts


def _raws_of(parts: list[Part]) -> list[bytes]:
    """The provider's message of each text."""
    raws: list[bytes] = []
    message = b""
    for part in parts:
        if isinstance(part, RawPart):
            message = part.message
        elif isinstance(part, TextPart):
            raws.append(message)
    return raws


def _require_content(plan: RoundPlan, reply: RoundReply) -> None:
    """An end without a word is a failure, unless its reason explains it.

    A call is no word where no tool was offered.
    """
    if reply.texts or (reply.tool_calls and plan.tools):
        return
    if reply.stop_reason not in (StopReason.LENGTH, StopReason.CONTENT_FILTER):
        raise BadResponse("The model's answer was empty.")


async def _report(candidate: Candidate, error: ProviderError, book: Book) -> None:
    """Log a failure, and tell all processes what follows from it."""
    name = candidate.provider.name
    logger.log(
        logging.ERROR if error.needs_operator else logging.WARNING,
        "%s/%s failed: %s (status %s) %s",
        name,
        candidate.model,
        error.code,
        error.status,
        error.diagnosis,
    )
    if error.retry_after_s:
        seconds = min(error.retry_after_s, conf().max_cool_down_s)
        book.cool_downs[name] = time.monotonic() + seconds
        await _note(health.cool_down, name, seconds)
    if error.needs_operator:
        await _note(health.call_operator, name, error.diagnosis)


async def _note(write: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Write what others should know; a turn does not fail because they cannot."""
    try:
        await in_thread(write, *args, **kwargs)
    except DatabaseFault:
        logger.exception("The state of a provider could not be stored.")
