"""Tools that every installation has."""

from __future__ import annotations

from datetime import UTC, datetime

from sessions_app.domain.tooling import PYTHON, ToolConfig
from sessions_app.tools.python_tool import tool


@tool
def current_time() -> str:
    """The date and time now, in UTC."""
    return datetime.now(UTC).strftime("%A, %d %B %Y, %H:%M UTC")


_PATHS = {
    "current_time": f"{__name__}:current_time",
    # Named and not imported: they reach the database, which tools do not.
    "hand_over": "sessions_app.desk:hand_over",
    "open_ticket": "sessions_app.desk:open_ticket",
}
BUILTIN: dict[str, ToolConfig] = {
    name: ToolConfig(name, PYTHON, settings={"path": path})
    for name, path in _PATHS.items()
}
