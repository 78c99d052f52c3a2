"""What a client may take of the server: time, bytes, connections, memory."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.e2e.conftest import Serve
from tests.fakes.client import Client, Posted
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY, SERVER, LiveServer
from tests.fakes.openai_events import DONE, finish, text

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

IS_DAPHNE = "daphne" in SERVER
STALLED = 60
MIB = 1024 * 1024


@asynccontextmanager
async def connection(
    server: LiveServer,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def answers_to(server: LiveServer) -> None:
    async with Client(server.url, KEY) as client:
        await client.create()


if IS_DAPHNE:  # uvicorn leaves these to the proxy before it

    async def test_headers_byte_by_byte_are_cut_off(
        serve: Serve, upstream: FakeUpstream
    ) -> None:
        server = serve(upstream.base_url, LANTERN_HEADER_TIMEOUT_S="1")
        async with connection(server) as (reader, writer):
            begin = time.monotonic()
            ended = asyncio.create_task(reader.read())
            for byte in b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200:
                if ended.done():
                    break
                writer.write(bytes([byte]))
                await asyncio.sleep(0.05)
            assert await ended == b""
            assert 0.9 < time.monotonic() - begin < 5
        await answers_to(server)

    async def test_kept_connection_has_a_deadline_too(
        serve: Serve, upstream: FakeUpstream
    ) -> None:
        server = serve(upstream.base_url, LANTERN_HEADER_TIMEOUT_S="1")
        async with connection(server) as (reader, writer):
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await reader.readuntil(b"}}}")
            await asyncio.sleep(1.5)  # idle: longer than headers may take
            writer.write(b"GET /hea")
            begin = time.monotonic()
            assert await reader.read() == b""
            assert 0.9 < time.monotonic() - begin < 5

    async def test_body_that_dribbles_is_cut_off(
        serve: Serve, upstream: FakeUpstream
    ) -> None:
        server = serve(upstream.base_url, LANTERN_BODY_TIMEOUT_S="1")
        async with connection(server) as (reader, writer):
            head = b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
            writer.write(head + b"Content-Length: 1000\r\n\r\n{")
            begin = time.monotonic()
            assert await reader.read() == b""
            assert 0.9 < time.monotonic() - begin < 5

    async def test_connections_over_the_limit_are_closed(
        serve: Serve, upstream: FakeUpstream
    ) -> None:
        server = serve(upstream.base_url, LANTERN_MAX_CONNECTIONS="5")
        kept = [
            await asyncio.open_connection("127.0.0.1", server.port) for _ in "12345"
        ]
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert await reader.read() == b""
        writer.close()
        kept[0][1].close()
        await asyncio.sleep(0.2)
        await answers_to(server)  # there is room again
        for _, other in kept[1:]:
            other.close()


# 50 had room to wait: of 10,000 readers that came back at once some waited for minutes,
# connected as they saw it, for a server that had never heard of them.
async def test_crowd_may_wait_to_be_accepted(server: LiveServer) -> None:
    room = int(Path("/proc/sys/net/core/somaxconn").read_text())
    crowd = [socket.socket() for _ in range(min(1000, room))]
    os.kill(server.pid, signal.SIGSTOP)
    try:
        for sock in crowd:
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", server.port))
        await asyncio.sleep(0.5)
        assert [sock for sock in crowd if not is_connected(sock)] == []
    finally:
        os.kill(server.pid, signal.SIGCONT)
        for sock in crowd:
            sock.close()
    await answers_to(server)


def is_connected(sock: socket.socket) -> bool:
    with suppress(OSError):
        return bool(sock.getpeername())
    return False


@pytest.mark.parametrize("framing", ["length", "chunked"])
async def test_long_body_is_refused_unread(server: LiveServer, framing: str) -> None:
    before = resident_bytes(server.pid)
    async with connection(server) as (reader, writer):
        head = b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
        is_chunked = framing == "chunked"
        how = (
            b"Transfer-Encoding: chunked"
            if is_chunked
            else b"Content-Length: 300000000"
        )
        writer.write(head + how + b"\r\n\r\n")
        piece = b"%x\r\n%b\r\n" % (MIB, b"a" * MIB) if is_chunked else b"a" * MIB
        for _ in range(3):
            writer.write(piece)
        answer = await asyncio.wait_for(reader.readuntil(b"}}"), 10)
    assert b" 413 " in answer.split(b"\r\n")[0]
    assert b"payload_too_large" in answer
    assert resident_bytes(server.pid) - before < 16 * MIB
    await answers_to(server)


async def test_stalled_readers_cost_little(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    words = [text("x" * 2000)] * 200
    upstream.enqueue(Reply([*words[:40], 1.0, *words, finish(), DONE]))
    posted = await client.post(await client.create())
    await client.first("message_delta", posted)
    before = resident_bytes(server.pid)
    stalled = [stalled_reader(server, posted) for _ in range(STALLED)]
    events = await client.until_idle(posted)
    assert "message_completed" in [event.kind for event in events]
    await asyncio.sleep(0.5)
    grown = resident_bytes(server.pid) - before
    assert grown / STALLED < 0.26 * MIB  # 500 of them: 130 MB
    for sock in stalled:
        sock.close()


def stalled_reader(server: LiveServer, posted: Posted) -> socket.socket:
    """A connection that asks for the events, and reads nothing."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", server.port))
    path = f"/v1/sessions/{posted.session_id}/events?after={posted.cursor}"
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}"
    sock.sendall(f"{head}\r\n\r\n".encode())
    return sock


async def test_reader_that_wakes_up_gets_all(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([*[text("y" * 2000)] * 200, finish(), DONE]))
    posted = await client.post(await client.create())
    sock = stalled_reader(server, posted)
    await client.ended(posted)
    seen = await asyncio.to_thread(read_to_idle, sock)
    assert seen.count(b"event: message_delta") == 200


def read_to_idle(sock: socket.socket) -> bytes:
    with sock:
        sock.settimeout(20)
        seen = b""
        while b"session.status_idle" not in seen:
            piece = sock.recv(65536)
            assert piece, "the stream ended early"
            seen += piece
        return seen


async def test_quick_reader_beside_stalled_ones(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([*[text("z" * 2000)] * 100, 0.5, text("!"), finish(), DONE]))
    posted = await client.post(await client.create())
    stalled = [stalled_reader(server, posted) for _ in range(10)]
    async with aclosing(client.events(posted.session_id, posted.cursor)) as stream:
        kinds = []
        async for event in stream:
            kinds.append(event.kind)
            if event.kind == "session.status_idle":
                break
    assert kinds.count("message_delta") == 101
    for sock in stalled:
        sock.close()


def resident_bytes(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
