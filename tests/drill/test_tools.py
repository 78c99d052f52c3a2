"""Tools and cancels that reach a turn from a process that does not run it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.drill.conftest import Site
from tests.fakes.client import Client, check_turn
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.openai_events import DONE, call, calls, finish, text

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

TOOL = {"name": "weather", "description": "d", "inputSchema": {"type": "object"}}
ASKS = Reply(
    [
        calls(call('{"city":"Berlin"}', index=0, id="a", name="weather")),
        calls(call('{"city":"Rome"}', index=1, id="b", name="weather")),
        finish("tool_calls"),
        DONE,
    ]
)


@asynccontextmanager
async def socket_to(server: LiveServer) -> AsyncIterator[ClientConnection]:
    url = f"ws://127.0.0.1:{server.port}/v1/socket"
    headers = {"Authorization": f"Bearer {KEY}"}
    async with connect(url, additional_headers=headers, proxy=None) as ws:
        await read(ws)  # hello
        yield ws


async def say(ws: ClientConnection, kind: str, **fields: Any) -> None:
    await ws.send(json.dumps({"type": kind, **fields}))


async def read(ws: ClientConnection) -> Any:
    async with asyncio.timeout(10):
        return json.loads(await ws.recv())


async def until(ws: ClientConnection, kind: str, count: int = 1) -> list[Any]:
    """The frames up to the ``count``-th of a kind."""
    found: list[Any] = []
    while count:
        found.append(await read(ws))
        count -= found[-1]["type"] == kind
    return found


# C35: the turn runs in a worker, the cancel comes over a web process's socket.
async def test_socket_cancels_a_turn_that_a_worker_runs(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    words = [step for n in range(20) for step in (text(f"{n} "), 0.3)]
    upstream.enqueue(Reply([*words, finish(), DONE]))
    async with socket_to(cluster.web[0]) as ws, socket_to(cluster.web[1]) as other:
        await say(ws, "session.start", prompt="count", raw=True)
        frames = await until(ws, "output.delta", 2)
        assert all(f["raw"] for f in frames if f["type"] == "output.delta")
        session_id = frames[-1]["sessionId"]
        await say(other, "session.cancel", sessionId=session_id)
        assert (await read(other))["code"] == "not_found"
        for _ in range(2):
            await say(ws, "session.cancel", sessionId=session_id)
        frames = await until(ws, "turn.completed")
        late = [frame["text"] for frame in frames if frame["type"] == "output.delta"]
        assert len(late) <= 3
        assert (frames[-1]["status"], frames[-1]["text"]) == (
            "cancelled",
            "".join(["0 ", "1 ", *late]),
        )
        await upstream.requests[0].wait_hung_up(1.0)
        await say(ws, "session.cancel", sessionId=session_id, requestId="again")
        while (answer := await read(ws)).get("requestId") != "again":
            assert answer["type"] != "turn.completed"
        assert answer["state"] == "idle"


async def test_results_reach_a_worker_that_did_not_begin_the_turn(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(ASKS, Reply([text("Sunny"), finish(), DONE]))
    first, second = cluster.workers
    second.stop()
    one, other = cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        posted = await a.post(await a.create(), clientTools=[TOOL])
        begun = await a.first("turn_awaiting_tools", posted)
        asked = [event for event in begun if event.kind == "tool_call_requested"]
        first.kill()
        await asyncio.to_thread(second.start)
        results = [
            {"id": event.data["callId"], "content": event.data["arguments"]["city"]}
            for event in reversed(asked)
        ]
        path = f"/v1/sessions/{posted.session_id}/turns/{posted.turn_id}/toolResults"
        answer = await b.http.post(path, json={"results": results})
        assert answer.is_success, answer.text
        events = await a.until_idle(posted)
    assert [event.n for event in events] == list(range(1, len(events) + 1))
    ends = [e.data["text"] for e in events if e.kind == "message_completed"]
    assert ends == ["Sunny"]
    told = upstream.requests[1].json["messages"][-2:]
    assert [(m["tool_call_id"], m["content"]) for m in told] == [
        ("a", "Berlin"),
        ("b", "Rome"),
    ]
    assert len(upstream.requests) == 2


async def test_waiting_turn_is_cancelled_from_another_process(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(ASKS)
    one, other = cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        posted = await a.post(await a.create(), clientTools=[TOOL])
        await a.first("turn_awaiting_tools", posted)
        await b.cancel(posted)
        assert (await a.ended(posted))["status"] == "cancelled"
        check_turn(await b.until_idle(posted))
        path = f"/v1/sessions/{posted.session_id}/turns/{posted.turn_id}/toolResults"
        results = [{"id": each, "content": "x"} for each in ("a", "b")]
        late = await b.http.post(path, json={"results": results})
        assert late.status_code in (400, 409), late.text


async def test_request_to_a_client_survives_a_redis_that_is_empty_again(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(ASKS, Reply([text("Sunny"), finish(), DONE]))
    one, other = site.cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        posted = await a.post(await a.create(), clientTools=[TOOL])
        before = await a.first("turn_awaiting_tools", posted)
        site.redis.kill()
        site.redis.heal()
        async with asyncio.timeout(30):
            after = await b.first("turn_awaiting_tools", posted)
        asked = [event for event in after if event.kind == "tool_call_requested"]
        assert [event.data for event in asked] == [
            event.data for event in before if event.kind == "tool_call_requested"
        ]
        results = [{"id": each.data["callId"], "content": "20"} for each in asked]
        path = f"/v1/sessions/{posted.session_id}/turns/{posted.turn_id}/toolResults"
        answer = await b.http.post(path, json={"results": results})
        assert answer.is_success, answer.text
        assert (await a.ended(posted))["text"] == "Sunny"
