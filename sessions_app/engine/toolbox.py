"""Running the tool calls of one round, side by side."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.outcome import CallStatus, ToolCallRecord
from sessions_app.domain.parts import ToolCallReady
from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.route import TurnWork
from sessions_app.domain.text import storable
from sessions_app.domain.tooling import ToolContext
from sessions_app.telemetry import counts
from sessions_app.tools.base import Tool, ToolError

logger = logging.getLogger(__name__)

MAX_CALLS_PER_ROUND = 16
MAX_NAME_LENGTH = 200
CUT_NOTE = "\n[The result was cut here, it is too long.]"


class Toolbox:
    """The tools of one turn: those that the server runs, and the client's own."""

    def __init__(self, work: TurnWork, tools: Mapping[str, Tool]) -> None:
        self._work = work
        self._tools = tools
        self._client_names = {spec.name for spec in work.client_tools}

    def __bool__(self) -> bool:
        return bool(self._tools or self._client_names)

    @property
    def specs(self) -> list[ToolSpec]:
        """What the model is offered; a tool of the server goes before a namesake."""
        own = [tool.spec for tool in self._tools.values()]
        return own + [s for s in self._work.client_tools if s.name not in self._tools]

    def plan(
        self, calls: Sequence[ToolCallReady], round_no: int, used_ids: Collection[str]
    ) -> list[ToolCallRecord]:
        """The calls as they will be run and stored, in the order of the model.

        An id that a call of the turn has already is replaced.
        """
        planned = []
        seen = set(used_ids)
        for position, call in enumerate(calls):
            call_id = storable(call.call_id)
            if call_id in seen or not 1 <= len(call_id) <= MAX_NAME_LENGTH:
                call_id = ids.new_id(ids.CALL)
            seen.add(call_id)
            status = self._status_of(call, position)
            planned.append(
                ToolCallRecord(
                    call_id=call_id,
                    round_no=round_no,
                    position=position,
                    name=storable(call.name)[:MAX_NAME_LENGTH],
                    arguments=call.arguments,
                    status=status,
                    error=call.error,
                    is_awaited=status is not CallStatus.STARTED,
                    raw=call.raw,
                )
            )
        return planned

    def _status_of(self, call: ToolCallReady, position: int) -> CallStatus:
        if call.error or position >= MAX_CALLS_PER_ROUND:
            return CallStatus.STARTED  # and fails at once
        tool = self._tools.get(call.name)
        if tool is not None:
            needs_yes = tool.needs_approval
            return CallStatus.UNAPPROVED if needs_yes else CallStatus.STARTED
        is_client = call.name in self._client_names
        return CallStatus.REQUESTED if is_client else CallStatus.STARTED

    async def run(self, calls: Sequence[ToolCallRecord]) -> list[ToolCallRecord]:
        """Run all; each ends completed or failed, results in the order of calls."""
        done = list(await asyncio.gather(*map(self._run, calls)))
        counts.tool_calls.update(str(call.status) for call in done)
        return done

    async def _run(self, call: ToolCallRecord) -> ToolCallRecord:
        started = time.monotonic()
        try:
            result = await self._result_of(call)
        except ToolError as error:
            told = cut(storable(str(error)))
            return replace(call, status=CallStatus.FAILED, error=told)
        duration_ms = round((time.monotonic() - started) * 1000)
        return replace(
            call, status=CallStatus.COMPLETED, result=result, duration_ms=duration_ms
        )

    async def _result_of(self, call: ToolCallRecord) -> str:
        if call.error:
            raise ToolError(call.error)
        if call.position >= MAX_CALLS_PER_ROUND:
            raise ToolError(
                f"At most {MAX_CALLS_PER_ROUND} calls are run in one round."
            )
        tool = self._tools.get(call.name)
        if tool is None:
            raise ToolError("There is no such tool.")
        context = ToolContext(self._work.session_id, self._work.turn_id, call.call_id)
        try:
            async with asyncio.timeout(conf().tool_timeout_s):
                return cut(storable(await tool.call(call.arguments, context)))
        except TimeoutError as error:
            raise ToolError("The tool took too long.") from error
        except ToolError:
            raise
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            raise ToolError("The tool gave up.") from error
        except (Exception, SystemExit) as error:
            # Its fellows of the round run on, and the turn and the server with them.
            logger.exception("The tool %s failed.", tool.spec.name)
            raise ToolError("The tool failed.") from error


def _is_cancelled() -> bool:
    """Whether the turn is ended from outside, and not the tool by itself."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def cut(result: str) -> str:
    """The result within the limit, with a note to the model if it was cut."""
    limit = conf().max_tool_result_bytes
    if len(result) * 4 <= limit:
        return result
    encoded = result[:limit].encode()
    if len(result) <= limit and len(encoded) <= limit:
        return result
    return encoded[:limit].decode(errors="ignore") + CUT_NOTE
