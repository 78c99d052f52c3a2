"""Tools that every installation has."""

from __future__ import annotations

from datetime import UTC, datetime

from sessions_app.domain.tooling import PYTHON, ToolConfig
from sessions_app.tools.python_tool import tool


@tool
def current_time() -> str:
    """The date and time now, in UTC."""
    return datetime.now(UTC).strftime("%A, %d %B %Y, %H:%M UTC")


BUILTIN: dict[str, ToolConfig] = {
    name: ToolConfig(name, PYTHON, settings={"path": f"{__name__}:{name}"})
    for name in ("current_time",)
}
