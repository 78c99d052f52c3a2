"""A proxy that does what bad proxies do: it keeps answers back, and cuts quiet ones.

async with BadProxy(server.port, hold_back_s=1.0) as proxy:
    url = f"http://127.0.0.1:{proxy.port}"
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType


class BadProxy:
    """Collects bytes for ``hold_back_s``, and bears silence for ``cut_s``."""

    def __init__(
        self, port: int, *, hold_back_s: float = 0.0, cut_s: float | None = None
    ) -> None:
        self._upstream = port
        self._hold_back_s = hold_back_s
        self._cut_s = cut_s
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> BadProxy:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        back_reader, back_writer = await asyncio.open_connection(
            "127.0.0.1", self._upstream
        )
        sending = asyncio.create_task(_pass_on(reader, back_writer))
        try:
            with suppress(ConnectionError, TimeoutError):
                await self._pass_back(back_reader, writer)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            back_writer.close()
            writer.close()

    async def _pass_back(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            async with asyncio.timeout(self._cut_s):
                piece = await reader.read(65_536)
            if not piece:
                return
            if self._hold_back_s and b"event:" in piece:
                await asyncio.sleep(self._hold_back_s)
            writer.write(piece)
            await writer.drain()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(65_536):
        writer.write(piece)
        await writer.drain()
