"""One connection to an MCP server, in a task of its own as the library demands."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import MessageHandlerFnT
from mcp.client.streamable_http import streamable_http_client

from sessions_app.domain.tooling import ToolConfig
from sessions_app.outbound.pinned import PinnedTransport

logger = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 60.0
"""Turns wait less: a command may have to be downloaded before it runs."""
CALL_TIMEOUT_S = 300.0
"""Longer than any tool may take: the caller's limit comes first."""

Prepare = Callable[[Client], Awaitable[None]]
Fail = Callable[["Connection", BaseException], None]


class Connection:
    """Opens by itself and stays open until ``end``.

    ``prepare`` is awaited before anybody gets the client; ``fail`` is told what ended
    the connection, if it was not ``end``.
    """

    def __init__(
        self, config: ToolConfig, prepare: Prepare, hear: MessageHandlerFnT, fail: Fail
    ) -> None:
        self._config = config
        self._prepare = prepare
        self._hear = hear
        self._fail = fail
        self._opened: asyncio.Future[Client] = asyncio.Future()
        self._is_over = asyncio.Event()
        self.task = asyncio.create_task(self._run())

    @property
    def is_open(self) -> bool:
        """Whether it came to be open; it may have broken since."""
        return self._opened.done() and self._opened.exception() is None

    async def client(self, wait_s: float) -> Client:
        """The open client; TimeoutError if it is still not open, or why it is gone."""
        done, _ = await asyncio.wait([self._opened], timeout=wait_s)
        if not done:
            raise TimeoutError(f"no answer in {wait_s:g} s")
        return self._opened.result()

    def end(self) -> None:
        """Let it close in order, or break off an opening that hangs."""
        self._is_over.set()
        if not self._opened.done():
            self.task.cancel()

    async def _run(self) -> None:
        try:
            async with (
                asyncio.timeout(OPEN_TIMEOUT_S) as limit,
                _transport(self._config) as transport,
                Client(
                    transport,
                    read_timeout_seconds=CALL_TIMEOUT_S,
                    message_handler=self._hear,
                ) as client,
            ):
                await self._prepare(client)
                limit.reschedule(None)
                self._opened.set_result(client)
                await self._is_over.wait()
        except Exception as error:
            self._break(error)
        finally:
            self._break(ConnectionError("it was given up"))

    def _break(self, error: Exception) -> None:
        if not self._opened.done():
            self._opened.set_exception(error)
            self._opened.exception()  # its reader may be gone
        if not self._is_over.is_set():
            self._is_over.set()
            self._fail(self, error)


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
