"""Each fault once, to an installation of two web processes and two workers.

After each: no turn without an end, none with two, and every client's history whole.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.drill.acts import PATIENCE_S, during, ends, judge, slow_reply
from tests.drill.history import watch
from tests.fakes.client import Client, Event
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.postgres import Postgres
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


async def test_kill_of_a_worker_in_mid_stream(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply())

    async def act() -> None:
        cluster.workers[0].kill()

    seen = await during(cluster, act, turns=8)
    assert ends(seen) <= {"message_completed", "message_error"}


async def test_kill_of_the_owner_before_the_first_delta(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    """Another worker, which lives, takes the turn over."""
    upstream.enqueue(Reply([HOLD]), slow_reply(3, 0.0))
    owner, other = cluster.workers
    other.freeze()
    async with Client(cluster.web[0].url, KEY) as client:
        posted = await client.post(await client.create())
        await until(lambda: upstream.requests, PATIENCE_S)
        other.thaw()
        owner.kill()
        seen: list[Event] = []
        await asyncio.wait_for(watch(client, posted, seen), PATIENCE_S)
        await judge(client, posted, seen)
    assert seen[-1].kind == "message_completed"
    assert len({each.headers["idempotency-key"] for each in upstream.requests}) == 1
    assert len(upstream.requests) == 2


async def test_kill_of_both_workers_before_the_first_delta(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([HOLD]), slow_reply(3, 0.0))
    async with Client(cluster.web[0].url, KEY) as client:
        posted = await client.post(await client.create())
        await until(lambda: upstream.requests, PATIENCE_S)
        for worker in cluster.workers:
            worker.kill()
        await asyncio.to_thread(cluster.workers[0].start)
        seen: list[Event] = []
        await asyncio.wait_for(watch(client, posted, seen), PATIENCE_S)
        await judge(client, posted, seen)
    assert seen[-1].kind == "message_completed"
    keys = [each.headers["idempotency-key"] for each in upstream.requests]
    assert keys[0] == keys[1]


async def test_worker_frozen_past_its_lease_writes_nothing_after(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply())

    async def act() -> None:
        for worker in cluster.workers:
            worker.freeze()
        await asyncio.sleep(5)
        for worker in cluster.workers:
            worker.thaw()

    await during(cluster, act)


@pytest.mark.parametrize("is_emptied", [False, True])
async def test_only_the_owner_is_frozen_past_its_lease(
    cluster: Cluster, upstream: FakeUpstream, redis: RedisServer, is_emptied: bool
) -> None:
    """The others end its turns, also where it alone could write the log again."""
    upstream.enqueue(slow_reply())

    async def act() -> None:
        cluster.workers[0].freeze()
        if is_emptied:
            redis.kill()
            redis.start()
        await asyncio.sleep(5)
        cluster.workers[0].thaw()

    seen = await during(cluster, act, turns=8)
    assert ends(seen) <= {"message_completed", "message_error"}


async def test_redis_killed_in_mid_stream_and_back_empty(
    cluster: Cluster, upstream: FakeUpstream, redis: RedisServer
) -> None:
    upstream.enqueue(slow_reply())

    async def act() -> None:
        redis.kill()
        await asyncio.sleep(1)
        redis.start()

    assert ends(await during(cluster, act)) == {"message_completed"}


async def test_redis_down_to_the_end_of_the_turn(
    cluster: Cluster, upstream: FakeUpstream, redis: RedisServer
) -> None:
    upstream.enqueue(slow_reply(20))

    async def act() -> None:
        redis.kill()

    assert ends(await during(cluster, act)) == {"message_completed"}


async def test_redis_frozen_for_five_seconds(
    cluster: Cluster, upstream: FakeUpstream, redis: RedisServer
) -> None:
    upstream.enqueue(slow_reply())

    async def act() -> None:
        redis.freeze()
        await asyncio.sleep(5)
        redis.thaw()

    assert ends(await during(cluster, act)) == {"message_completed"}


async def test_postgres_restarted_at_once_in_mid_turn(
    cluster: Cluster, upstream: FakeUpstream, postgres: Postgres
) -> None:
    upstream.enqueue(slow_reply())

    async def act() -> None:
        await asyncio.to_thread(postgres.stop, "immediate")
        await asyncio.to_thread(postgres.start)

    await during(cluster, act)


async def test_posts_without_a_database_are_told_when_to_come_again(
    cluster: Cluster, upstream: FakeUpstream, postgres: Postgres
) -> None:
    upstream.enqueue(slow_reply(30))

    async def act() -> None:
        await asyncio.to_thread(postgres.stop, "immediate")
        try:
            async with Client(cluster.web[0].url, KEY) as client:
                answer = await client.http.post("/v1/sessions", json={})
        finally:
            await asyncio.to_thread(postgres.start)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0

    await during(cluster, act)


async def test_hundred_posts_with_one_key_make_one_turn(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(5, 0.0))
    one, other = cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        session_id = await a.create()
        posts = await asyncio.gather(
            *((a, b)[n % 2].post(session_id, key="same") for n in range(100))
        )
        assert len({post.turn_id for post in posts}) == 1
        seen: list[Event] = []
        await watch(b, posts[0], seen)
        await judge(a, posts[0], seen)
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("how", ["kill", "stop"])
async def test_rolling_restart_of_the_web_loses_no_event(
    cluster: Cluster, upstream: FakeUpstream, how: str
) -> None:
    upstream.enqueue(slow_reply(80))
    one, other = cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        posted = await a.post(await a.create())
        seen: list[Event] = []
        begin = time.monotonic()
        for server, client in ((one, a), (other, b)):
            reading = asyncio.create_task(watch(client, posted, seen))
            await asyncio.sleep(1)
            await asyncio.to_thread(getattr(server, how))
            await asyncio.gather(reading, return_exceptions=True)
            await asyncio.to_thread(server.start)
        assert time.monotonic() - begin < PATIENCE_S * 2
        async with Client(one.url, KEY) as last:
            await watch(last, posted, seen)
            await judge(last, posted, seen)
    assert seen[-1].kind == "message_completed"
