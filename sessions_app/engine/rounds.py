"""The rounds of a turn: one that streams, or up to five with tools, then words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sessions_app.conf import conf
from sessions_app.domain.announce import requests_of
from sessions_app.domain.events import (
    SessionEvent,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
)
from sessions_app.domain.outcome import PENDING, CallStatus, ToolCallRecord
from sessions_app.domain.parts import StopReason
from sessions_app.domain.prompt import AUTO, PromptMessage, PromptToolCall
from sessions_app.domain.route import TurnWork
from sessions_app.engine.failover import (
    FindAdapter,
    RoundPlan,
    RoundReply,
    ShowText,
    run_with_failover,
)
from sessions_app.engine.meter import Book
from sessions_app.engine.publisher import Publisher
from sessions_app.engine.toolbox import Toolbox
from sessions_app.store import progress
from sessions_app.store import turns as turn_store
from sessions_app.store.db import in_thread

MAX_TOOL_ROUNDS = 5
LIMIT_REPLY = (
    "I could not finish this: the limit of tool calls for one answer is reached."
)
CUT_REPLY = "I could not finish this: the answer was cut off at its length limit."


class TurnWaits(Exception):
    """The turn was let go until it is sent what it asked for."""


class TurnCancelled(Exception):
    """Somebody asked for the end of the turn."""


class ClaimLost(Exception):
    """Another process has the turn; this one may write nothing more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a turn, why it ended there, and the provider's message of that."""

    text: str
    stop_reason: StopReason
    raw: bytes = b""


@dataclass(slots=True)
class Rounds:
    """Runs the rounds of one turn, from where an earlier claim left them."""

    work: TurnWork
    publisher: Publisher
    book: Book
    find_adapter: FindAdapter
    toolbox: Toolbox
    show: ShowText
    shown: list[str]
    has_started_tool: bool = False
    texts: list[str] = field(default_factory=list)
    calls: list[ToolCallRecord] = field(default_factory=list)

    async def run(self) -> Reply:
        """The reply; raises ProviderError if no candidate gave one."""
        if not self._offers_tools:
            reply = await self._ask(RoundPlan(self.work.turn_id, 1, self.work.prompt))
            return Reply(reply.text, reply.stop_reason, reply.raw)
        self.texts = list(self.work.progress.round_texts)
        self.calls = list(self.work.progress.calls)
        if self.texts:
            await self._take_up()
        while len(self.texts) < MAX_TOOL_ROUNDS:
            reply = await self._ask(self._tool_plan(len(self.texts) + 1))
            if not reply.tool_calls:
                return Reply(self._whole(reply), reply.stop_reason, reply.raw)
            if reply.stop_reason is StopReason.LENGTH:
                # Even a call that parses may be cut: 10 from 100.
                text = self._whole(reply) or CUT_REPLY
                return Reply(text, StopReason.LENGTH, reply.raw)
            await self._run_round(reply)
        last = RoundPlan(
            self.work.turn_id, MAX_TOOL_ROUNDS + 1, self._messages(), may_be_empty=True
        )
        reply = await self._ask(last)
        if not self._whole(reply) and self._is_showing:
            await self.show([LIMIT_REPLY], [])
        text = self._whole(reply) or LIMIT_REPLY
        return Reply(text, StopReason.TOOL_ROUNDS, reply.raw)

    @property
    def _offers_tools(self) -> bool:
        return bool(self.toolbox) and self.work.tool_choice.mode != "none"

    @property
    def _is_showing(self) -> bool:
        """Rounds of a turn with tools are kept back, unless the agent shows them."""
        return not self._offers_tools or self.work.is_streaming_rounds

    def _whole(self, reply: RoundReply) -> str:
        """What was shown over all rounds, else what this round says."""
        return "".join(self.shown) if self._is_showing else reply.text

    def _tool_plan(self, round_no: int) -> RoundPlan:
        # A choice that forces a call would force one in each round for ever.
        choice = self.work.tool_choice if round_no == 1 else AUTO
        return RoundPlan(
            self.work.turn_id,
            round_no,
            self._messages(),
            tools=self.toolbox.specs,
            tool_choice=choice,
        )

    def _messages(self) -> tuple[PromptMessage, ...]:
        messages = list(self.work.prompt)
        for round_no, text in enumerate(self.texts, 1):
            calls = [call for call in self.calls if call.round_no == round_no]
            messages += _as_messages(text, calls)
        return tuple(messages)

    async def _ask(self, plan: RoundPlan) -> RoundReply:
        work = self.work
        plan = replace(
            plan,
            max_output_tokens=work.max_output_tokens,
            temperature=work.temperature,
            show=self.show if self._is_showing else None,
            deltas_before=len(self.shown),
            with_raw=work.with_raw,
        )
        return await run_with_failover(
            plan, work.candidates, self.find_adapter, self.book
        )

    async def _run_round(self, reply: RoundReply) -> None:
        """Commit that the calls start, announce and run them, store the results."""
        used_ids = {call.call_id for call in self.calls}
        planned = self.toolbox.plan(reply.tool_calls, len(self.texts) + 1, used_ids)
        self.texts.append(reply.text)
        self.has_started_tool |= not all(call.is_awaited for call in planned)
        attempts = self.book.unstored
        is_held = await in_thread(
            turn_store.start_tools,
            self.work.turn_id,
            self.work.fence,
            planned,
            attempts,
            self.texts,
            self.publisher.next_n,
        )
        if not is_held:
            raise ClaimLost
        self.book.stored(attempts)
        ended = await self._run_calls([c for c in planned if not c.is_awaited])
        awaited = [call for call in planned if call.is_awaited]
        self.calls += sorted([*ended, *awaited], key=lambda call: call.position)
        if awaited:
            await self._wait(awaited)

    async def _run_calls(self, calls: list[ToolCallRecord]) -> list[ToolCallRecord]:
        if not calls:
            return []
        await self.publisher.publish(*(self._started(call) for call in calls))
        ended = await self.toolbox.run(calls)
        work = self.work
        if not await in_thread(turn_store.end_tools, work.turn_id, work.fence, ended):
            raise ClaimLost
        await self.publisher.publish(*(self._ended(call) for call in ended))
        return ended

    async def _wait(self, awaited: list[ToolCallRecord]) -> None:
        """Commit that the turn waits, then ask; another claim goes on with it."""
        events = requests_of(
            self.work.session_id, self.work.turn_id, awaited, conf().tool_wait_s
        )
        next_n = self.publisher.next_n + len(events)
        if not await in_thread(progress.begin_wait, self.work, next_n, self.shown):
            is_cancelled = await in_thread(
                progress.is_cancelled, self.work.turn_id, self.work.fence
            )
            raise TurnCancelled if is_cancelled else ClaimLost
        await self.publisher.publish(*events, raws=[call.raw for call in awaited])
        raise TurnWaits

    async def _take_up(self) -> None:
        """Go on with the last round: wait for its calls, or with what came of them."""
        round_no = len(self.texts)
        last = [call for call in self.calls if call.round_no == round_no]
        if pending := [call for call in last if call.status in PENDING]:
            # The claim before this one asked, and ended before it waited.
            await self._wait(pending)
        await self._settle(last)

    async def _settle(self, last: list[ToolCallRecord]) -> None:
        """Tell what came of the calls that the turn waited for; run the allowed ones.

        A claim that died after it began them never comes here: it started a tool.
        """
        told = [call for call in last if call.is_awaited and _is_settled(call)]
        await self.publisher.publish(*(self._ended(call) for call in told))
        allowed = [
            replace(call, status=CallStatus.STARTED)
            for call in last
            if call.status == CallStatus.APPROVED
        ]
        if not allowed:
            return
        self.has_started_tool = True
        if not await in_thread(
            turn_store.start_approved, self.work.turn_id, self.work.fence, allowed
        ):
            raise ClaimLost
        ended = {call.call_id: call for call in await self._run_calls(allowed)}
        self.calls = [ended.get(call.call_id, call) for call in self.calls]

    def _started(self, call: ToolCallRecord) -> SessionEvent:
        return ToolCallStarted(
            self.work.session_id,
            self.work.turn_id,
            call.round_no,
            call.call_id,
            call.name,
            call.arguments,
        )

    def _ended(self, call: ToolCallRecord) -> SessionEvent:
        ids = (self.work.session_id, self.work.turn_id, call.round_no, call.call_id)
        if call.status == CallStatus.FAILED:
            return ToolCallFailed(*ids, call.name, call.error)
        return ToolCallCompleted(*ids, call.name, call.result, call.duration_ms)


def _is_settled(call: ToolCallRecord) -> bool:
    return call.status in (CallStatus.COMPLETED, CallStatus.FAILED)


def _as_messages(text: str, calls: Sequence[ToolCallRecord]) -> list[PromptMessage]:
    """The round as the next one is told of it: the calls, then their results."""
    asked = tuple(
        PromptToolCall(call.call_id, call.name, call.arguments) for call in calls
    )
    messages = [PromptMessage("assistant", text, tool_calls=asked)]
    for call in calls:
        is_failed = call.status != CallStatus.COMPLETED
        content = f"Error: {call.error}" if is_failed else call.result
        messages.append(PromptMessage("tool", content, tool_call_id=call.call_id))
    return messages
