"""The tools that agents may name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from sessions_app.domain.prompt import ToolSpec
from sessions_app.tools.base import Tool
from sessions_app.tools.python_tool import PythonTool


def _current_time() -> str:
    return datetime.now(UTC).strftime("%A, %d %B %Y, %H:%M UTC")


CURRENT_TIME = PythonTool(
    ToolSpec(
        name="current_time",
        description="The date and time now, in UTC.",
        input_schema={"type": "object", "properties": {}},
    ),
    _current_time,
)

TOOLS: dict[str, Tool] = {CURRENT_TIME.spec.name: CURRENT_TIME}


def tools_named(names: Iterable[str]) -> dict[str, Tool]:
    """The known tools among the names, in their order."""
    return {name: TOOLS[name] for name in names if name in TOOLS}
