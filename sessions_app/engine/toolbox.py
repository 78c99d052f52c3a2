"""Running the tool calls of one round, side by side."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from sessions_app.conf import conf
from sessions_app.domain.outcome import ToolCallRecord
from sessions_app.domain.parts import ToolCallReady
from sessions_app.domain.text import storable
from sessions_app.tools.base import Tool, ToolError

MAX_CALLS_PER_ROUND = 16
CUT_NOTE = "\n[The result was cut here, it is too long.]"


def plan_calls(calls: Sequence[ToolCallReady], round_no: int) -> list[ToolCallRecord]:
    """The calls as they will be run and stored, in the order of the model."""
    return [
        ToolCallRecord(
            call_id=call.call_id,
            round_no=round_no,
            position=position,
            name=call.name,
            arguments=call.arguments,
            error=call.error,
        )
        for position, call in enumerate(calls)
    ]


async def run_calls(
    calls: Sequence[ToolCallRecord], tools: dict[str, Tool]
) -> list[ToolCallRecord]:
    """Run all calls; each ends completed or failed, results in the order of calls."""
    return list(await asyncio.gather(*(_run(call, tools) for call in calls)))


async def _run(call: ToolCallRecord, tools: dict[str, Tool]) -> ToolCallRecord:
    started = time.monotonic()
    try:
        result = await _result_of(call, tools)
    except ToolError as error:
        return replace(call, status="failed", error=str(error))
    duration_ms = round((time.monotonic() - started) * 1000)
    return replace(call, status="completed", result=result, duration_ms=duration_ms)


async def _result_of(call: ToolCallRecord, tools: dict[str, Tool]) -> str:
    if call.error:
        raise ToolError(call.error)
    if call.position >= MAX_CALLS_PER_ROUND:
        raise ToolError(f"At most {MAX_CALLS_PER_ROUND} calls are run in one round.")
    tool = tools.get(call.name)
    if tool is None:
        raise ToolError("There is no such tool.")
    try:
        async with asyncio.timeout(conf().tool_timeout_s):
            return cut(storable(await tool.call(call.arguments)))
    except TimeoutError as error:
        raise ToolError("The tool took too long.") from error


def cut(result: str) -> str:
    """The result within the limit, with a note to the model if it was cut."""
    limit = conf().max_tool_result_bytes
    encoded = result.encode()
    if len(encoded) <= limit:
        return result
    return encoded[:limit].decode(errors="ignore") + CUT_NOTE
