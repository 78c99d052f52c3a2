"""Tools as they are set up: no code behind them yet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PYTHON, HTTP, MCP = "python", "http", "mcp"
TOOL_KINDS = (HTTP, MCP, PYTHON)
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What both provider families accept as the name of a tool."""


@dataclass(frozen=True, slots=True)
class ToolConfig:
    """One tool, or one MCP server of many; ``headers`` hold secrets in the clear.

    ``settings`` are the keys of the kind: ``url``, ``method``, ``query``, ``body`` and
    ``input_schema`` of ``http``, ``path`` of ``python``, ``command`` or ``url`` of
    ``mcp``. With ``needs_approval`` somebody says yes before each call.
    """

    name: str
    kind: str
    description: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    allow_private: bool = False
    needs_approval: bool = False


@dataclass(frozen=True, slots=True)
class ToolContext:
    """For whom a tool is called."""

    session_id: str
    turn_id: str
    call_id: str
