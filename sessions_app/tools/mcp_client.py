"""Tools of MCP servers: a command, or an address that speaks streamable HTTP."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp import types as mcp_types
from mcp.client.streamable_http import streamable_http_client

from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.tooling import ToolConfig, ToolContext
from sessions_app.outbound.pinned import PinnedTransport
from sessions_app.tools.base import Tool, ToolError, ToolFault

logger = logging.getLogger(__name__)

CONNECT_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 300.0
"""Longer than any tool may take: the caller's limit comes first."""
LIST_TTL_S = 60.0
"""Servers tell of changes; this is for those that do not."""
CLOSE_TIMEOUT_S = 10.0
RETRY_S = 5.0
MAX_PAGES = 20
MAX_TOOLS = 128

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
            client = await server.client()
            result = await client.call_tool(self.remote_name, arguments)
        except MCPError as error:
            if error.code in (mcp_types.CONNECTION_CLOSED, mcp_types.REQUEST_TIMEOUT):
                server.give_up(error)
                raise ToolError("The tool could not be reached.") from error
            raise ToolError(f"The tool refused the call: {error}"[:500]) from error
        except ToolFault as error:
            raise ToolError("The tool could not be reached.") from error
        except Exception as error:
            server.give_up(error)
            raise ToolError("The tool could not be reached.") from error
        text = _text_of(result)
        if result.is_error:
            raise ToolError(text or "The tool failed.")
        return text


class McpServer:
    """A connection that is kept, in a task of its own as the library demands."""

    def __init__(self, config: ToolConfig) -> None:
        self._config = config
        self._task: asyncio.Task[None] | None = None
        self._client: asyncio.Future[Client] | None = None
        self._tools: list[Tool] = []
        self._listed_at: float | None = None
        self._retry_at = 0.0
        self._lock = asyncio.Lock()
        self._is_over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def client(self) -> Client:
        """The open connection, made at first use; ToolFault if there is none."""
        if self._task is None or self._task.done():
            if time.monotonic() < self._retry_at:
                raise ToolFault("the MCP server failed a moment ago.")
            self._client = asyncio.get_running_loop().create_future()
            self._listed_at = None
            self._is_over = asyncio.Event()
            self._task = asyncio.create_task(self._run(self._client, self._is_over))
            self._tasks.add(self._task)
            self._task.add_done_callback(self._tasks.discard)
        assert self._client is not None
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                return await asyncio.shield(self._client)
        except Exception as error:
            self.give_up(error)
            raise ToolFault(
                f"the MCP server cannot be used: {type(error).__name__}: {error}"
            ) from error

    async def tools(self) -> Sequence[Tool]:
        """What it offers; listed again once the server said that it changed."""
        async with self._lock:
            client = await self.client()
            now = time.monotonic()
            if self._listed_at is None or now - self._listed_at > LIST_TTL_S:
                self._listed_at = now
                try:
                    async with asyncio.timeout(CONNECT_TIMEOUT_S):
                        self._tools = await self._list(client)
                except Exception as error:
                    self.give_up(error)
                    raise ToolFault(f"its tools cannot be listed: {error}") from error
            return self._tools

    def give_up(self, error: BaseException) -> None:
        """End a connection that failed; a later call makes another."""
        logger.warning("The MCP server %s failed: %r", self._config.name, error)
        self._retry_at = time.monotonic() + RETRY_S
        self._end_task()

    async def close(self) -> None:
        """End the connection, and the server's process if it is one."""
        self._end_task()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_TIMEOUT_S)

    def _end_task(self) -> None:
        """Let it close in order, or break off a connect that hangs."""
        self._is_over.set()
        task, client = self._task, self._client
        if task is not None and client is not None and not client.done():
            task.cancel()
        self._task = None

    async def _run(
        self, opened: asyncio.Future[Client], is_over: asyncio.Event
    ) -> None:
        try:
            async with (
                _transport(self._config) as transport,
                Client(
                    transport,
                    read_timeout_seconds=CALL_TIMEOUT_S,
                    message_handler=self._hear,
                ) as client,
            ):
                if not opened.done():
                    opened.set_result(client)
                await is_over.wait()
        except Exception as error:
            if not opened.done():
                opened.set_exception(error)
                opened.exception()  # its reader may be gone
            else:
                logger.warning(
                    "The MCP server %s is gone: %r", self._config.name, error
                )

    async def _hear(self, message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            self._listed_at = None

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
            server.give_up(ToolFault("it was set up anew"))
        server = mine[config.name] = McpServer(config)
    return server


async def server_tools(config: ToolConfig) -> Sequence[Tool]:
    """The tools of a server; ToolFault if it cannot be asked."""
    return await _server_of(config).tools()


async def close_servers() -> None:
    """End all connections of the running loop."""
    for server in _servers.pop(asyncio.get_running_loop(), {}).values():
        await server.close()


@asynccontextmanager
async def _transport(config: ToolConfig) -> AsyncIterator[Any]:
    if command := config.settings.get("command"):
        yield StdioServerParameters(command=command[0], args=list(command[1:]))
        return
    client = httpx2.AsyncClient(
        transport=PinnedTransport(allow_private=config.allow_private),
        headers=dict(config.headers),
        timeout=httpx2.Timeout(30.0, read=CALL_TIMEOUT_S),
        trust_env=False,
    )
    async with client:
        yield streamable_http_client(
            str(config.settings["url"]), http_client=client, terminate_on_close=False
        )


def _text_of(result: mcp_types.CallToolResult) -> str:
    texts = [
        block.text
        if isinstance(block, mcp_types.TextContent)
        else f"[{block.type} content]"
        for block in result.content
    ]
    return "\n".join(texts)
