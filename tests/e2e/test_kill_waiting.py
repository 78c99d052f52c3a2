"""The server dies while a turn waits for its client, and is started again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.fakes.client import Client, Event, Posted
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import LiveServer
from tests.fakes.openai_events import DONE, call, calls, finish, text

pytestmark = [pytest.mark.live, pytest.mark.timeout(60)]

TOOL = {"name": "page", "inputSchema": {"type": "object"}}
# C12: the fragments of two calls alternate. C13: two calls in one slot; without ids.
INTERLEAVED = [
    calls(call("", index=0, id="a", name="page")),
    calls(call("", index=1, id="b", name="page")),
    calls(call('{"x":', index=0)),
    calls(call('{"y":2', index=1)),
    calls(call("1}", index=0), call("}", index=1)),
]
ONE_SLOT = [
    calls(call('{"x":1}', index=0, id="a", name="page")),
    calls(call('{"y":2}', index=0, id="b", name="page")),
]
NO_IDS = [
    calls(call('{"x":1}', index=0, name="page"), call('{"y":2}', index=1, name="page"))
]


async def killed_while_waiting(
    server: LiveServer, client: Client, upstream: FakeUpstream, *deltas: Any
) -> tuple[Posted, list[Event]]:
    """A turn that waits in a server that was killed, and the events seen before."""
    upstream.enqueue(Reply([*deltas, finish("tool_calls"), DONE]))
    upstream.enqueue(Reply([text("Home"), finish(), DONE]))
    posted = await client.post(await client.create(), clientTools=[TOOL])
    seen = await client.first("turn_awaiting_tools", posted)
    server.kill()
    await asyncio.to_thread(server.start)
    return posted, [event for event in seen if event.id]


def requested(events: list[Event]) -> list[tuple[str, Any]]:
    asked = [event.data for event in events if event.kind == "tool_call_requested"]
    return [(each["callId"], each["arguments"]) for each in asked]


async def send(client: Client, posted: Posted, ids: list[str]) -> int:
    path = f"/v1/sessions/{posted.session_id}/turns/{posted.turn_id}/toolResults"
    results = [{"id": call_id, "content": call_id} for call_id in ids]
    return (await client.http.post(path, json={"results": results})).status_code


@pytest.mark.parametrize("deltas", [INTERLEAVED, ONE_SLOT, NO_IDS])
async def test_waiting_turn_goes_on_after_a_kill(
    server: LiveServer, client: Client, upstream: FakeUpstream, deltas: Any
) -> None:
    posted, seen = await killed_while_waiting(server, client, upstream, *deltas)
    ids = [call_id for call_id, _ in requested(seen)]
    assert [arguments for _, arguments in requested(seen)] == [{"x": 1}, {"y": 2}]
    assert await send(client, posted, ids[::-1]) == 202
    rest = await client.until_idle(posted, after=seen[-1].id)
    assert [event.n for event in rest] == list(range(seen[-1].n + 1, rest[-1].n + 1))
    assert [event.data["text"] for event in rest if "text" in event.data][0] == "Home"
    told = upstream.requests[1].json["messages"]
    assert [each["id"] for each in told[1]["tool_calls"]] == ids
    results = [(each["tool_call_id"], each["content"]) for each in told[2:]]
    assert results == [(call_id, call_id) for call_id in ids]
    assert await send(client, posted, ids) == 400


async def test_reader_after_a_kill_is_asked_again(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    posted, seen = await killed_while_waiting(server, client, upstream, *ONE_SLOT)
    again = await client.first("turn_awaiting_tools", posted)
    assert requested(again) == requested(seen)


async def test_cancel_after_a_kill_ends_the_wait(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    posted, _ = await killed_while_waiting(server, client, upstream, *ONE_SLOT)
    await client.cancel(posted)
    assert (await client.ended(posted))["status"] == "cancelled"
    again = await client.post(posted.session_id, "again")
    assert (await client.ended(again))["status"] == "completed"
    told = [each["role"] for each in upstream.requests[1].json["messages"]]
    assert told == ["user"]
