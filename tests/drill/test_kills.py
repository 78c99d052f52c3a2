"""Workers that die, or are asked to, at the worst of moments."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from tests.drill.acts import PATIENCE_S, during, ends, judge, slow_reply
from tests.drill.conftest import Site
from tests.drill.history import watch
from tests.fakes.client import Client, Event
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, call, calls, finish, text, usage
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

TURNS = 200
ORDER = calls(call('{"n":1}', index=0, id="call_1", name="order"))


async def test_kill_in_a_tool_round_runs_no_tool_twice(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([ORDER, finish("tool_calls"), usage(11, 3), DONE]))
    async with (
        FakeUpstream(site.shop_port) as shop,
        Client(site.cluster.web[0].url, KEY) as client,
    ):
        shop.enqueue(Reply([HOLD]))
        posted = await client.post(await client.create(agent="buyer"))
        await until(lambda: shop.requests, PATIENCE_S)
        for worker in site.cluster.workers:
            worker.kill()
        await asyncio.to_thread(site.heal)
        seen: list[Event] = []
        await asyncio.wait_for(watch(client, posted, seen), PATIENCE_S)
        turn = await judge(client, posted, seen)
        await asyncio.sleep(2.5)  # a sweep or two
    assert turn["error"]["code"] == "worker_lost"
    # The first round is paid for, and was told exactly.
    assert turn["usage"]["tokensOut"] == 3
    assert len(shop.requests) == len(upstream.requests) == 1


@pytest.mark.parametrize("is_emptied", [False, True])
async def test_kill_between_commit_and_announcement(
    site: Site, upstream: FakeUpstream, is_emptied: bool
) -> None:
    """Also where the log is empty, so that none of it says that a turn was open."""
    upstream.enqueue(Reply([text("Hel"), text("lo"), 3.0, finish(), DONE]))
    one, other = site.cluster.workers
    other.freeze()  # so that the turn goes to the worker behind the proxy
    async with Client(site.cluster.web[1].url, KEY) as client:
        posted = await client.post(await client.create())
        seen: list[Event] = []
        reader = asyncio.create_task(watch(client, posted, seen))
        await until(lambda: "lo" in [e.data.get("delta") for e in seen], PATIENCE_S)
        site.redis_proxy.freeze()
        if is_emptied:
            reader.cancel()
            await asyncio.wait([reader])
            site.redis.kill()
            site.redis.start()
            reader = asyncio.create_task(watch(client, posted, seen))
        await asyncio.to_thread(committed, site.cluster.database_url, posted.turn_id)
        one.kill()
        site.redis_proxy.reset()
        site.redis_proxy.heal()
        other.thaw()
        await asyncio.wait_for(reader, PATIENCE_S)
        await judge(client, posted, seen)
    assert seen[-1].kind == "message_completed"
    assert seen[-1].data["text"] == "Hello"


def committed(database_url: str, turn_id: str) -> None:
    """Return once the turn's end is stored."""
    query = "SELECT 1 FROM sessions_app_turn WHERE id = %s AND state = 'completed'"
    with psycopg.connect(database_url, autocommit=True) as connection:
        while not connection.execute(query, [turn_id]).fetchone():
            pass


async def test_two_hundred_turns_when_workers_are_asked_to_stop(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(8, 1.0))

    async def act() -> None:
        for worker in site.cluster.workers:
            assert await asyncio.to_thread(worker.stop) == 0

    seen = await during(site.cluster, act, turns=TURNS)
    assert ends(seen) == {"message_completed"}
    assert len(upstream.requests) == TURNS
