"""Any request may land on any process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.fakes.client import Client, check_turn, deltas
from tests.fakes.cluster import Cluster, Several
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, finish, text

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]


@asynccontextmanager
async def both(cluster: Cluster) -> AsyncIterator[tuple[Client, Client]]:
    one, other = cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        yield a, b


async def test_turn_is_read_and_resumed_anywhere(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    words = [text(f"{n} ") for n in range(20)]
    steps = [step for word in words for step in (word, 0.02)]
    upstream.enqueue(Reply([*steps, finish(), DONE]))
    async with (
        Client(cluster.web[0].url, KEY) as a,
        Client(cluster.web[1].url, KEY) as b,
    ):
        posted = await a.post(await a.create())
        begun = await b.first("message_delta", posted, 5)
        last = begun[-1].id
        rest = await a.until_idle(posted, after=last)
        check_turn([event for event in begun if event.id] + rest)
        assert (await b.turn(posted))["status"] == "completed"
    assert len(upstream.requests) == 1


async def test_cancel_reaches_the_owner_from_any_process(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    async with (
        Client(cluster.web[0].url, KEY) as a,
        Client(cluster.web[1].url, KEY) as b,
    ):
        posted = await a.post(await a.create())
        await b.first("message_delta", posted)
        begin = time.monotonic()
        await b.cancel(posted)
        events = await a.until_idle(posted)
        assert time.monotonic() - begin < 2
        await upstream.requests[0].wait_hung_up(1.0)
    check_turn(events)
    end = next(event for event in events if event.kind == "message_completed")
    assert end.data["stopReason"] == "cancelled"


async def test_one_port_serves_by_several_processes(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("Hel"), text("lo"), finish(), DONE]))
    server = cluster.make(Several, 2, LANTERN_ENGINE="off")
    server.arguments += ("--host", "::")
    await asyncio.to_thread(server.start)
    for url in (server.url, f"http://[::1]:{server.port}"):
        async with Client(url, KEY) as client:
            session_ids = [await client.create() for _ in range(10)]
            posts = await asyncio.gather(*map(client.post, session_ids))
            for events in await asyncio.gather(*map(client.until_idle, posts)):
                check_turn(events)
                assert "".join(deltas(events)) == "Hello"
    assert await asyncio.to_thread(server.stop) == 0
