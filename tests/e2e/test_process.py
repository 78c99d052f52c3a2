"""The server as a process: signals, ports, folders, and what drops leave behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from contextlib import aclosing, suppress
from pathlib import Path

import pytest

from tests.e2e.conftest import Serve
from tests.fakes.client import Client, Posted
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.openai_events import DONE, finish, text
from tests.fakes.ports import free_port
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(60)]

DROPS = 200
AT_ONCE = 20


async def test_sigterm_lets_a_short_turn_end(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("Hel"), 1.0, text("lo"), finish(), DONE]))
    posted = await client.post(await client.create())
    await client.first("message_delta", posted)
    begin = time.monotonic()
    assert await asyncio.to_thread(server.stop) == 0
    assert time.monotonic() - begin < 5
    await asyncio.to_thread(server.start)
    turn = await client.turn(posted)
    assert (turn["status"], turn["text"]) == ("completed", "Hello")


async def test_sigterm_ends_a_long_turn_in_time(
    serve: Serve, upstream: FakeUpstream
) -> None:
    server = serve(upstream.base_url, LANTERN_DRAIN_S="3")
    client = Client(server.url, KEY)
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    posted = await client.post(await client.create())
    stream = client.until_idle(posted)
    reading = asyncio.create_task(stream)
    await client.first("message_delta", posted)
    begin = time.monotonic()
    assert await asyncio.to_thread(server.stop) == 0
    assert time.monotonic() - begin < 12
    events = await reading
    assert "message_error" in [event.kind for event in events]
    await asyncio.to_thread(server.start)
    turn = await client.turn(posted)
    assert turn["status"] == "failed"
    assert turn["error"]["code"] == "worker_shutdown"
    await client.http.aclose()


async def test_second_signal_is_taken_quietly(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    # Twisted complained that it does not run: make passes a signal on to a process
    # that has had it already, and people press Ctrl-C twice.
    upstream.enqueue(Reply([text("Hel"), 0.5, text("lo"), finish(), DONE]))
    posted = await client.post(await client.create())
    await client.first("message_delta", posted)
    os.kill(server.pid, signal.SIGTERM)
    await asyncio.sleep(0.1)
    assert await asyncio.to_thread(server.stop) == 0
    assert "Traceback" not in server.tail()


async def test_sigterm_with_idle_streams_is_quick(
    server: LiveServer, client: Client
) -> None:
    session_id = await client.create()
    async with aclosing(client.events(session_id)) as stream:
        await anext(stream)
        begin = time.monotonic()
        assert await asyncio.to_thread(server.stop) == 0
        assert time.monotonic() - begin < 3


def test_second_server_on_a_folder_is_refused(server: LiveServer) -> None:
    other = server.command("--port", str(free_port()))
    said = other.communicate(timeout=15)[0].decode()
    assert other.returncode == 1
    assert "Another server uses" in said
    assert "LANTERN_DATA_DIR" in said
    assert "Traceback" not in said


def test_port_in_use_is_refused(template: Path, tmp_path: Path) -> None:
    server = LiveServer(template, tmp_path / "data")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = server.command("--port", str(port))
        said = process.communicate(timeout=15)[0].decode()
    assert process.returncode == 1
    assert str(port) in said
    assert "PORT" in said
    assert "Traceback" not in said


async def test_drops_leave_nothing_behind(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    posted = await client.post(await client.create())
    await client.first("message_delta", posted)
    before = open_sockets(server.pid)
    for _ in range(DROPS // AT_ONCE):
        async with Client(server.url, KEY) as visitors:
            await drop(visitors, posted)
    await until(lambda: open_sockets(server.pid) <= before, 5)
    # Its readers gone, the turn goes on, until it is stopped.
    assert upstream.requests[0].hung_up_at is None
    await client.cancel(posted)
    await upstream.requests[0].wait_hung_up(1.0)


async def drop(client: Client, posted: Posted) -> None:
    """Open streams at once, and drop each after its first delta."""
    drops = [client.first("message_delta", posted) for _ in range(AT_ONCE)]
    await asyncio.gather(*drops)


def open_sockets(pid: int) -> int:
    """Sockets that a process holds; files are a few for each thread of the store."""
    count = 0
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            count += os.readlink(descriptor).startswith("socket:")
    return count
