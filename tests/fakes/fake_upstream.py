"""A provider on a loopback socket that sends exactly the bytes of a script.

    async with FakeUpstream() as upstream:
        upstream.enqueue(Reply([chunk("Hel"), 0.2, RESET]))

A step of a reply is bytes to send, a number of seconds to wait, or one of the
marks below. Replies are given out in order; the last one is given again and again.
``upstream.answer`` makes them of the request instead.
``FakeUpstream.in_thread()`` is the same for tests without an event loop.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Literal


class Mark(Enum):
    """What a reply may do besides sending and waiting."""

    HOLD = auto()  # keep the socket open until the client hangs up
    RESET = auto()  # break the connection with a TCP reset
    CUT = auto()  # close without the end of the body
    BROKEN = auto()  # send bytes that are no chunk, then close


HOLD, RESET, CUT, BROKEN = Mark.HOLD, Mark.RESET, Mark.CUT, Mark.BROKEN
Step = bytes | float | int | Mark
Framing = Literal["chunked", "length", "close", "raw"]


@dataclass(frozen=True)
class Reply:
    """One scripted answer; with ``raw`` framing the steps are the whole of it."""

    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    framing: Framing = "chunked"
    is_closing: bool = False  # close the connection after the body

    def head(self) -> bytes:
        """The status line and headers."""
        headers = {"Content-Type": self.content_type, **self.headers}
        if self.framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
        elif self.framing == "length":
            size = sum(len(step) for step in self.steps if isinstance(step, bytes))
            headers.setdefault("Content-Length", str(size))
        else:
            headers["Connection"] = "close"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"HTTP/1.1 {self.status} Scripted\r\n{lines}\r\n".encode()


@dataclass
class Exchange:
    """One request as it came; ``hung_up_at`` is when the client left it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    arrived_at: float = field(default_factory=time.monotonic)
    hung_up_at: float | None = None

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)

    async def wait_hung_up(self, timeout_s: float = 1.0) -> float:
        """Seconds until the client hung up; TimeoutError if it does not."""
        start = time.monotonic()
        while self.hung_up_at is None:
            if time.monotonic() - start > timeout_s:
                raise TimeoutError("the client did not hang up")
            await asyncio.sleep(0.005)
        return self.hung_up_at - start


class FakeUpstream:
    """The server; enter it to listen."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[Exchange] = []
        self.answer: Callable[[Exchange], Reply] | None = None
        self.connections = 0
        self._script: list[Reply] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.port = port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def enqueue(self, *replies: Reply) -> None:
        """Add answers to the script."""
        self._script.extend(replies)

    def replace(self, *replies: Reply) -> None:
        """Begin another script, whatever is left of the last one."""
        self._script[:] = replies

    async def __aenter__(self) -> FakeUpstream:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @classmethod
    @contextmanager
    def in_thread(cls, port: int = 0) -> Iterator[FakeUpstream]:
        """The server on an event loop in a thread of its own."""
        upstream, is_ready, stop = cls(port), threading.Event(), asyncio.Event()
        loop = asyncio.new_event_loop()

        async def serve() -> None:
            async with upstream:
                is_ready.set()
                await stop.wait()

        thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
        thread.start()
        is_ready.wait(5)
        try:
            yield upstream
        finally:
            loop.call_soon_threadsafe(stop.set)
            thread.join()
            loop.close()

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        number, ahead = self.connections, b""
        try:
            while True:
                exchange = await _read_request(reader, ahead, number)
                self.requests.append(exchange)
                reply = self._reply_to(exchange)
                async with _watch(reader, exchange) as watched:
                    await _send(reply, writer, watched.is_gone)
                ahead = watched.ahead
                if reply.is_closing or reply.framing in ("close", "raw"):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, _Ended):
            pass
        except asyncio.CancelledError:
            pass  # asyncio's streams would log a cancelled task as a fault
        finally:
            writer.close()

    def _reply_to(self, exchange: Exchange) -> Reply:
        if self.answer is not None:
            return self.answer(exchange)
        if not self._script:
            return Reply([b'{"error":{"message":"no script"}}'], 500, framing="length")
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]


class _Ended(Exception):
    """The reply ended its connection itself."""


@dataclass
class _Watched:
    is_gone: asyncio.Event = field(default_factory=asyncio.Event)
    ahead: bytes = b""


@asynccontextmanager
async def _watch(
    reader: asyncio.StreamReader, exchange: Exchange
) -> AsyncIterator[_Watched]:
    """Note when the client hangs up; a byte of its next request is kept."""
    watched = _Watched()

    async def look() -> None:
        with suppress(ConnectionError):
            watched.ahead = await reader.read(1)
        if not watched.ahead:
            exchange.hung_up_at = time.monotonic()
            watched.is_gone.set()

    task = asyncio.create_task(look())
    try:
        yield watched
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _read_request(
    reader: asyncio.StreamReader, ahead: bytes, connection: int
) -> Exchange:
    head = (ahead + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Exchange(method, path, headers, body, connection)


async def _send(
    reply: Reply, writer: asyncio.StreamWriter, is_gone: asyncio.Event
) -> None:
    if reply.framing != "raw":
        writer.write(reply.head())
        await writer.drain()
    for step in reply.steps:
        if isinstance(step, bytes):
            writer.write(_framed(step, reply.framing))
            await writer.drain()
        elif isinstance(step, Mark):
            await _act(step, writer, is_gone)
        else:
            await _wait(is_gone, step)
    if reply.framing == "chunked":
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _act(
    mark: Mark, writer: asyncio.StreamWriter, is_gone: asyncio.Event
) -> None:
    if mark is HOLD:
        await is_gone.wait()
    elif mark is RESET:
        linger = struct.pack("ii", 1, 0)  # close with a reset, at once
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()
    elif mark is BROKEN:
        writer.write(b"this is no chunk\r\n")
        await writer.drain()
    raise _Ended


async def _wait(is_gone: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await is_gone.wait()
            raise _Ended


def _framed(raw: bytes, framing: Framing) -> bytes:
    return b"%x\r\n%s\r\n" % (len(raw), raw) if framing == "chunked" else raw
