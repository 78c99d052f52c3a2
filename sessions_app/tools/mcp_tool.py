"""MCP servers as tools; the client behind them is loaded when one is first used.

The library takes a second to import and 30 MB, which a host without such tools
should not pay at each start.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sessions_app.domain.tooling import TOOL_NAME, ToolConfig
from sessions_app.outbound.addresses import AddressRefused, check_url
from sessions_app.tools.base import Tool, ToolFault

CLIENT = "sessions_app.tools.mcp_client"


async def server_tools(config: ToolConfig) -> Sequence[Tool]:
    """The tools of a server; ToolFault if it cannot be asked."""
    client: Any = sys.modules.get(CLIENT) or await asyncio.to_thread(
        import_module, CLIENT
    )
    tools: Sequence[Tool] = await client.server_tools(config)
    return tools


async def close_servers() -> None:
    """End all connections of the running loop, and the servers that are processes."""
    client: Any = sys.modules.get(CLIENT)
    if client is not None:
        await client.close_servers()


def check_server(config: ToolConfig) -> None:
    """ToolFault unless there is a command, or an address that may be asked."""
    command, url = config.settings.get("command"), config.settings.get("url")
    if bool(command) == bool(url):
        raise ToolFault("an MCP server needs either a command or a url.", "url")
    if not TOOL_NAME.fullmatch(config.name):
        raise ToolFault(
            "its name must be letters, digits, hyphens and underscores.", "name"
        )
    if url:
        try:
            check_url(str(url), allow_private=config.allow_private)
        except AddressRefused as error:
            raise ToolFault(f"url cannot be used: {error}.", "url") from error
