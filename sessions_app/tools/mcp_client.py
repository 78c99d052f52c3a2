"""Tools of MCP servers: a command, or an address that speaks streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from mcp import Client, MCPError
from mcp import types as mcp_types

from sessions_app.conf import conf
from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.tooling import ToolConfig, ToolContext
from sessions_app.tools.base import Tool, ToolError, ToolFault
from sessions_app.tools.mcp_connection import Connection

logger = logging.getLogger(__name__)

RECONNECT_WAIT_S = 1.0
LIST_TTL_S = 60.0
"""Servers tell of changes; this is for those that do not."""
CLOSE_TIMEOUT_S = 10.0
RETRY_S = 5.0
MAX_PAGES = 20
MAX_TOOLS = 128

_LOST = (mcp_types.CONNECTION_CLOSED, mcp_types.REQUEST_TIMEOUT)
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool of a server, under the server's name and its own."""

    spec: ToolSpec
    config: ToolConfig
    remote_name: str

    @property
    def needs_approval(self) -> bool:
        return self.config.needs_approval

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        server = _server_of(self.config)
        try:
            connection, client = await server.connected()
        except ToolFault as error:
            raise ToolError("The tool could not be reached.") from error
        try:
            result = await client.call_tool(self.remote_name, arguments)
        except MCPError as error:
            if error.code not in _LOST:
                raise ToolError(f"The tool refused the call: {error}"[:500]) from error
            server.give_up(connection, error)
            raise ToolError("The tool could not be reached.") from error
        except Exception as error:
            server.give_up(connection, error)
            raise ToolError("The tool could not be reached.") from error
        text = _text_of(result)
        if result.is_error:
            raise ToolError(text or "The tool failed.")
        return text


class McpServer:
    """A server, and the connection to it that is kept."""

    def __init__(self, config: ToolConfig) -> None:
        self._config = config
        self._connection: Connection | None = None
        self._tools: list[Tool] = []
        self._listed_at: float | None = None
        self._retry_at = 0.0
        self._has_failed = False  # to answer, when it was asked last
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def connected(self) -> tuple[Connection, Client]:
        """The open connection, made at first use; ToolFault if there is none.

        A server that did not answer in time is waited for but shortly from then on.
        Its connection goes on opening, and later callers find it.
        """
        connection = self._connection
        if connection is None:
            if time.monotonic() < self._retry_at:
                raise ToolFault("the MCP server failed a moment ago.")
            connection = Connection(
                self._config, self._relist, self._hear, self.give_up
            )
            self._connection = connection
            self._tasks.add(connection.task)
            connection.task.add_done_callback(self._tasks.discard)
        wait_s = conf().mcp_wait_s
        if self._has_failed:
            wait_s = min(wait_s, RECONNECT_WAIT_S)
        try:
            client = await connection.client(wait_s)
        except Exception as error:
            self._has_failed = True
            raise ToolFault(
                f"the MCP server cannot be used: {type(error).__name__}: {error}"
            ) from error
        self._has_failed = False
        return connection, client

    async def tools(self) -> Sequence[Tool]:
        """What it offers; listed again once the server said that it changed."""
        connection, client = await self.connected()
        async with self._lock:
            now = time.monotonic()
            if self._listed_at is None or now - self._listed_at > LIST_TTL_S:
                try:
                    async with asyncio.timeout(conf().mcp_wait_s):
                        await self._relist(client)
                except Exception as error:
                    self._has_failed = True
                    self.give_up(connection, error)
                    raise ToolFault(f"its tools cannot be listed: {error}") from error
            return self._tools

    def give_up(self, connection: Connection, error: BaseException) -> None:
        """End a connection that failed; a later call makes another.

        Of an older one this says nothing new: it failed because it was ended.
        """
        if connection is not self._connection:
            return
        logger.warning("The MCP server %s failed: %r", self._config.name, error)
        self._retry_at = time.monotonic() + RETRY_S
        self._has_failed |= not connection.is_open
        self.end()

    def end(self) -> None:
        """End the connection, and the server's process if it is one."""
        if self._connection is not None:
            self._connection.end()
            self._connection = None

    async def close(self) -> None:
        """The same, and wait until it is done."""
        self.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_TIMEOUT_S)

    async def _hear(self, message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._listed_at = None

    async def _relist(self, client: Client) -> None:
        self._listed_at = time.monotonic()
        self._tools = await self._list(client)

    async def _list(self, client: Client) -> list[Tool]:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [self._tool(each) for each in page.tools]
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_TOOLS:
                break
        return found[:MAX_TOOLS]

    def _tool(self, remote: mcp_types.Tool) -> McpTool:
        name = _NOT_IN_NAME.sub("_", f"{self._config.name}__{remote.name}")[:64]
        schema = dict(remote.input_schema) or {"type": "object", "properties": {}}
        spec = ToolSpec(name, remote.description or "", schema)
        return McpTool(spec, self._config, remote.name)


_servers: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, McpServer]]
_servers = WeakKeyDictionary()


def _server_of(config: ToolConfig) -> McpServer:
    """The running loop's connection to it; another one once it is set up anew."""
    mine = _servers.setdefault(asyncio.get_running_loop(), {})
    server = mine.get(config.name)
    if server is None or server._config != config:
        if server is not None:
            server.end()
        server = mine[config.name] = McpServer(config)
    return server


async def server_tools(config: ToolConfig) -> Sequence[Tool]:
    """The tools of a server; ToolFault if it cannot be asked."""
    return await _server_of(config).tools()


async def close_servers() -> None:
    """End all connections of the running loop, one as patiently as all."""
    servers = _servers.pop(asyncio.get_running_loop(), {})
    await asyncio.gather(*(server.close() for server in servers.values()))


def _text_of(result: mcp_types.CallToolResult) -> str:
    texts = [
        block.text
        if isinstance(block, mcp_types.TextContent)
        else f"[{block.type} content]"
        for block in result.content
    ]
    return "\n".join(texts)
