"""SIGTERM under load: every turn has its one end, and clients that come back see it."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import aclosing

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.e2e.conftest import Serve
from tests.fakes.client import TERMINAL, Client, Event, Posted, check_turn
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.openai_events import DONE, call, calls, finish, text
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

TURNS = 60


async def test_each_turn_under_sigterm_has_one_end(
    serve: Serve, upstream: FakeUpstream
) -> None:
    server = serve(upstream.base_url, LANTERN_DRAIN_S="6")
    quick = Reply([text("Hel"), 2.0, text("lo"), finish(), DONE])
    upstream.enqueue(*[quick] * (TURNS - 20), Reply([text("Hel"), HOLD]))
    async with Client(server.url, KEY) as client:
        posts = [await client.post(await client.create()) for _ in range(TURNS)]
        readers = [asyncio.create_task(read_to_end(client, p)) for p in posts]
        await until(lambda: len(upstream.requests) == TURNS, 20)
        assert await asyncio.to_thread(server.stop) == 0
        await asyncio.to_thread(server.start)
        for events in await asyncio.wait_for(asyncio.gather(*readers), 40):
            check_turn(events)
        turns = [await client.turn(posted) for posted in posts]
    assert {turn["status"] for turn in turns} == {"completed", "failed"}
    codes = {turn["error"]["code"] for turn in turns if turn["error"]}
    assert codes == {"worker_shutdown"}


async def read_to_end(client: Client, posted: Posted) -> list[Event]:
    """All events of a turn, coming back with the cursor whenever the stream ends."""
    found: list[Event] = []
    while not any(event.kind in TERMINAL for event in found):
        after = found[-1].id if found else posted.cursor
        try:
            async with aclosing(client.events(posted.session_id, after)) as stream:
                async for event in stream:
                    found += [event] if event.id else []
                    if event.kind in TERMINAL:
                        break
        except httpx.HTTPError:
            pass
        await asyncio.sleep(0.05)
    return found


async def test_idle_streams_are_told_when_to_return(
    server: LiveServer, client: Client
) -> None:
    session_id = await client.create()
    async with client.http.stream("GET", f"/v1/sessions/{session_id}/events") as answer:
        pieces = answer.aiter_raw()
        assert b": open" in await anext(pieces)
        os.kill(server.pid, signal.SIGTERM)
        rest = b"".join([piece async for piece in pieces])
    retry_ms = int(rest.partition(b"retry: ")[2].split()[0])
    assert 500 <= retry_ms <= 3000


async def test_draining_server_takes_no_turn(
    serve: Serve, upstream: FakeUpstream
) -> None:
    server = serve(upstream.base_url, LANTERN_DRAIN_S="10")
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    async with Client(server.url, KEY) as client:
        posted = await client.post(await client.create())
        await client.first("message_delta", posted)
        other = await client.create()
        assert (await client.http.get("/ready")).status_code == 200
        os.kill(server.pid, signal.SIGTERM)
        await asyncio.sleep(0.3)
        path = f"/v1/sessions/{other}/messages"
        answer = await client.http.post(path, json={"content": "hello"})
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert answer.json()["error"]["code"] == "worker_shutdown"
        ready = await client.http.get("/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "draining")
        assert (await client.http.get("/health")).status_code == 200
        reading = asyncio.create_task(client.until_idle(posted))
        await asyncio.sleep(0.5)
        await client.cancel(posted)
        events = await reading
        assert "message_completed" in [event.kind for event in events]


async def test_second_signal_shortens_the_wait(
    serve: Serve, upstream: FakeUpstream
) -> None:
    server = serve(upstream.base_url, LANTERN_DRAIN_S="60")
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    async with Client(server.url, KEY) as client:
        posted = await client.post(await client.create())
        await client.first("message_delta", posted)
        os.kill(server.pid, signal.SIGTERM)
        await asyncio.sleep(1.5)
        assert await asyncio.to_thread(server.stop) == 0  # within its 15 s
        await asyncio.to_thread(server.start)
        assert (await client.turn(posted))["status"] == "failed"


async def test_idle_socket_is_closed_for_restart(server: LiveServer) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    url = f"ws://127.0.0.1:{server.port}/v1/socket"
    async with connect(url, additional_headers=headers, proxy=None) as ws:
        await ws.recv()
        os.kill(server.pid, signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            await ws.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012


STUCK = """
[[tool]]
name = "stuck"
kind = "python"
path = "tests.fakes.stuck_tool:never_return"

[[agent]]
slug = "stuck"
route = ["primary/gpt-x"]
tools = ["stuck"]
"""


async def test_tool_that_never_returns_lets_the_server_end(
    serve: Serve, upstream: FakeUpstream
) -> None:
    entry = call("{}", index=0, id="call_1", name="stuck")
    upstream.enqueue(Reply([calls(entry), finish("tool_calls"), DONE]))
    server = serve(upstream.base_url, STUCK, LANTERN_DRAIN_S="1")
    async with Client(server.url, KEY) as client:
        posted = await client.post(await client.create(agent="stuck"))
        await client.first("tool_call_started", posted)
        assert await asyncio.to_thread(server.stop) == 0  # within its 15 s
        await asyncio.to_thread(server.start)
        assert (await client.turn(posted))["status"] == "failed"
