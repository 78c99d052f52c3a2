"""The rounds of a turn: one that streams, or up to five with tools, then words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sessions_app.domain.events import (
    SessionEvent,
    ToolCallCompleted,
    ToolCallFailed,
    ToolCallStarted,
)
from sessions_app.domain.outcome import ToolCallRecord
from sessions_app.domain.parts import StopReason
from sessions_app.domain.prompt import PromptMessage, PromptToolCall
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
from sessions_app.engine.toolbox import plan_calls, run_calls
from sessions_app.store import turns as turn_store
from sessions_app.store.db import in_thread
from sessions_app.tools.base import Tool

MAX_TOOL_ROUNDS = 5
LIMIT_REPLY = (
    "I could not finish this: the limit of tool calls for one answer is reached."
)
CUT_REPLY = "I could not finish this: the answer was cut off at its length limit."


class ClaimLost(Exception):
    """Another process has the turn; this one may write nothing more."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a turn and why it ended there."""

    text: str
    stop_reason: StopReason


@dataclass(slots=True)
class Rounds:
    """Runs the rounds of one turn."""

    work: TurnWork
    publisher: Publisher
    book: Book
    find_adapter: FindAdapter
    tools: dict[str, Tool]
    show: ShowText
    has_started_tool: bool = False

    async def run(self) -> Reply:
        """The reply; raises ProviderError if no candidate gave one."""
        if not self.tools:
            reply = await self._ask(RoundPlan(self.work.turn_id, 1, self.work.prompt))
            return Reply(reply.text, reply.stop_reason)
        messages = list(self.work.prompt)
        for round_no in range(1, MAX_TOOL_ROUNDS + 1):
            reply = await self._ask(self._tool_plan(round_no, messages))
            if not reply.tool_calls:
                return Reply(reply.text, reply.stop_reason)
            if reply.stop_reason is StopReason.LENGTH:
                # Even a call that parses may be cut: 10 from 100.
                return Reply(reply.text or CUT_REPLY, StopReason.LENGTH)
            calls = await self._run_tools(reply, round_no)
            messages += _as_messages(reply, calls)
        last = RoundPlan(
            self.work.turn_id, MAX_TOOL_ROUNDS + 1, messages, may_be_empty=True
        )
        reply = await self._ask(last)
        return Reply(reply.text or LIMIT_REPLY, StopReason.TOOL_ROUNDS)

    def _tool_plan(self, round_no: int, messages: Sequence[PromptMessage]) -> RoundPlan:
        specs = [tool.spec for tool in self.tools.values()]
        return RoundPlan(self.work.turn_id, round_no, tuple(messages), tools=specs)

    async def _ask(self, plan: RoundPlan) -> RoundReply:
        work = self.work
        plan = replace(
            plan,
            max_output_tokens=work.max_output_tokens,
            temperature=work.temperature,
            # Rounds of a turn with tools are kept back.
            show=None if self.tools else self.show,
        )
        return await run_with_failover(
            plan, work.candidates, self.find_adapter, self.book
        )

    async def _run_tools(
        self, reply: RoundReply, round_no: int
    ) -> list[ToolCallRecord]:
        """Commit that the calls start, announce them, run them, store the results."""
        work = self.work
        planned = plan_calls(reply.tool_calls, round_no)
        is_held = await in_thread(
            turn_store.start_tools,
            work.turn_id,
            work.fence,
            planned,
            self.book.take_unstored(),
        )
        if not is_held:
            raise ClaimLost
        self.has_started_tool = True
        await self.publisher.publish(*(self._started(call) for call in planned))
        calls = await run_calls(planned, self.tools)
        await in_thread(turn_store.end_tools, work.turn_id, calls)
        await self.publisher.publish(*(self._ended(call) for call in calls))
        return calls

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
        if call.status == "failed":
            return ToolCallFailed(*ids, call.name, call.error)
        return ToolCallCompleted(*ids, call.name, call.result, call.duration_ms)


def _as_messages(
    reply: RoundReply, calls: Sequence[ToolCallRecord]
) -> list[PromptMessage]:
    """The round as the next one is told of it: the calls, then their results."""
    asked = tuple(
        PromptToolCall(call.call_id, call.name, call.arguments) for call in calls
    )
    messages = [PromptMessage("assistant", reply.text, tool_calls=asked)]
    for call in calls:
        content = call.result if call.status == "completed" else f"Error: {call.error}"
        messages.append(PromptMessage("tool", content, tool_call_id=call.call_id))
    return messages
