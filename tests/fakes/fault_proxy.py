"""A TCP proxy between Lantern and what it leans on, that does what networks do.

    with FaultProxy(redis.port) as proxy:
        proxy.freeze()  # connections stand, and nothing passes
        proxy.heal()

It runs on a thread of its own, so that it serves while a test waits. A fault holds for
all connections, those that come later too, until ``heal``.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from tests.fakes.ports import free_port

READ_BYTES = 65_536
Filter = Callable[[bytes], bytes]


class FaultProxy:
    """Listens on ``port``, and passes on to another port of this machine.

    ``delay_s`` holds each piece up; with ``is_losing`` pieces vanish. ``filter_of``
    makes for each connection what its answers go through.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.port = free_port()
        self.delay_s = 0.0
        self.is_losing = False
        self.is_refusing = False
        self.filter_of: Callable[[], Filter] | None = None
        self._left: int | None = None
        self._loop = asyncio.new_event_loop()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._links: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        opening = asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self._server = asyncio.run_coroutine_threadsafe(opening, self._loop).result(5)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def freeze(self) -> None:
        """Let nothing pass; what is on its way is kept for ``heal``."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def reset(self) -> None:
        """Break all connections with a TCP reset; what is on its way is lost."""
        asyncio.run_coroutine_threadsafe(self._break_all(), self._loop).result(5)

    def truncate(self, answer_bytes: int) -> None:
        """Pass so many more bytes of answers, then close their connections."""
        self._left = answer_bytes

    def heal(self) -> None:
        """End all faults."""
        self.delay_s, self.is_losing, self.is_refusing = 0.0, False, False
        self.filter_of, self._left = None, None
        self._loop.call_soon_threadsafe(self._flowing.set)

    async def _close(self) -> None:
        self._server.close()
        await self._break_all()

    async def _break_all(self) -> None:
        links = list(self._links)
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        task.add_done_callback(self._links.discard)
        far: asyncio.StreamWriter | None = None
        try:
            if self.is_refusing:
                raise ConnectionRefusedError
            far_reader, far = await asyncio.open_connection("127.0.0.1", self.target)
            await self._pass_both(reader, writer, far_reader, far)
        except (OSError, asyncio.CancelledError):
            # asyncio's streams would log a cancelled task as a fault.
            _break(writer)
            if far is not None:
                _break(far)
        finally:
            for each in (writer, far):
                if each is not None:
                    each.close()

    async def _pass_both(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far: asyncio.StreamWriter,
    ) -> None:
        """Until either side ends."""
        ways = [
            asyncio.create_task(self._pass(reader, far, is_answer=False)),
            asyncio.create_task(self._pass(far_reader, writer, is_answer=True)),
        ]
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in done:
                way.result()
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_answer: bool,
    ) -> None:
        own: Filter | None = None
        while piece := await reader.read(READ_BYTES):
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            await self._flowing.wait()
            if self.is_losing:
                continue
            if is_answer and self.filter_of is not None:
                own = own or self.filter_of()
                piece = own(piece)
            if is_answer and self._left is not None:
                piece, self._left = piece[: self._left], max(self._left - len(piece), 0)
            writer.write(piece)
            await writer.drain()
            if is_answer and self._left == 0:
                return


def _break(writer: asyncio.StreamWriter) -> None:
    linger = struct.pack("ii", 1, 0)  # close with a reset, at once
    with suppress(OSError):
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
