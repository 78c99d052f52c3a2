"""A tool as a host might write it by mistake."""

from __future__ import annotations

import threading

from sessions_app.tools.python_tool import tool


@tool
def never_return() -> str:
    """Wait for what never comes."""
    threading.Event().wait()
    return ""
