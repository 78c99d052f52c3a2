"""Redis and PostgreSQL that fail in less simple ways than to be gone."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from redis import Redis

from tests.drill.acts import (
    PATIENCE_S,
    TOKENS_IN,
    billed,
    during,
    ends,
    judge,
    slow_reply,
)
from tests.drill.conftest import Site
from tests.drill.history import watch
from tests.fakes.client import Client, Event
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.lost_bells import LostBells
from tests.fakes.openai_events import DONE, finish, text, usage
from tests.fakes.redis_server import RedisServer

DOWN_S = float(os.environ.get("LANTERN_DRILL_DOWN_S", "6"))

pytestmark = [pytest.mark.live, pytest.mark.timeout(180 + DOWN_S)]


async def test_redis_restored_from_an_older_state(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply())
    redis = site.redis

    async def act() -> None:
        with Redis(port=redis.port) as client:
            client.save()
        await asyncio.sleep(1)
        restore(redis)

    assert ends(await during(site.cluster, act)) == {"message_completed"}


# A cursor that Redis did not reach any more was taken for one that never was.
async def test_reader_is_ahead_of_a_redis_that_was_restored(
    site: Site, upstream: FakeUpstream
) -> None:
    words = [[text(f"{n} ") for n in range(m, m + 10)] for m in (0, 10, 20)]
    steps = [*words[0], 1.5, *words[1], 5.0, *words[2]]
    upstream.enqueue(Reply([*steps, finish(), usage(TOKENS_IN, 30), DONE]))
    one, other = site.cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        posted = await a.post(await a.create())
        await a.first("message_delta", posted, 10)
        with Redis(port=site.redis.port) as client:
            client.save()
        seen = [e for e in await a.first("message_delta", posted, 20) if e.id]
        await asyncio.to_thread(restore, site.redis)
        await asyncio.wait_for(watch(b, posted, seen), PATIENCE_S)
        assert billed(await judge(a, posted, seen)) == (TOKENS_IN, 30, False)


def restore(redis: RedisServer) -> None:
    """Be killed, and back with what was saved last."""
    redis.kill()
    redis.start()
    (Path(redis.folder) / "dump.rdb").unlink()


async def test_redis_out_of_memory(site: Site, upstream: FakeUpstream) -> None:
    upstream.enqueue(slow_reply(40))

    async def act() -> None:
        with Redis(port=site.redis.port) as client:
            client.config_set("maxmemory", 1)
            await asyncio.sleep(2)
            client.config_set("maxmemory", 0)

    assert ends(await during(site.cluster, act)) == {"message_completed"}


async def test_no_bell_is_heard(site: Site, upstream: FakeUpstream) -> None:
    upstream.enqueue(slow_reply(20))
    site.cluster.workers[1].freeze()
    site.redis_proxy.filter_of = LostBells
    behind = site.cluster.web[0]
    before, begin = LostBells.lost, time.monotonic()
    seen = await during(site.cluster, lambda: asyncio.sleep(0), webs=[behind, behind])
    assert ends(seen) == {"message_completed"}
    assert LostBells.lost > before
    assert time.monotonic() - begin < 15


async def test_everything_is_slow(site: Site, upstream: FakeUpstream) -> None:
    upstream.enqueue(slow_reply(20))
    site.redis_proxy.delay_s = site.database_proxy.delay_s = 0.05
    seen = await during(site.cluster, lambda: asyncio.sleep(0))
    assert ends(seen) == {"message_completed"}


async def test_connections_are_broken_again_and_again(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(50))

    async def act() -> None:
        for proxy in (site.redis_proxy, site.database_proxy) * 3:
            proxy.reset()
            await asyncio.sleep(0.5)

    # The pool may wait longer for a connection than these short leases hold.
    seen = await during(site.cluster, act)
    assert ends(seen) <= {"message_completed", "message_error"}


async def test_connections_to_redis_are_broken_again_and_again(
    site: Site, upstream: FakeUpstream
) -> None:
    """After a reset a write raised what nobody took for a failure of Redis."""
    upstream.enqueue(slow_reply(40))

    async def act() -> None:
        for _ in range(8):
            site.redis_proxy.reset()
            await asyncio.sleep(0.3)

    assert ends(await during(site.cluster, act)) == {"message_completed"}


async def test_worker_cut_off_from_its_database(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(30))

    async def act() -> None:
        # Longer than the lease: the other worker's sweeper ends the turns.
        site.database_proxy.freeze()
        await asyncio.sleep(5)
        site.database_proxy.heal()

    seen = await during(site.cluster, act, webs=[site.cluster.web[1]] * 2)
    assert ends(seen) <= {"message_completed", "message_error"}


async def test_database_down_for_long(site: Site, upstream: FakeUpstream) -> None:
    upstream.enqueue(slow_reply(20))

    async def act() -> None:
        await asyncio.to_thread(site.postgres.stop, "immediate")
        await asyncio.sleep(DOWN_S)
        await asyncio.to_thread(site.postgres.start)

    await during(site.cluster, act)


async def test_database_takes_no_more_connections(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(30))

    async def act() -> None:
        with ExitStack() as held:
            await asyncio.to_thread(take_all, site.postgres.url(), held)
            async with Client(site.cluster.web[1].url, KEY) as client:
                answer = await client.http.post("/v1/sessions", json={})
            assert answer.status_code in (201, 503)
            await asyncio.sleep(2)

    seen = await during(site.cluster, act)
    assert ends(seen) == {"message_completed"}


def take_all(url: str, held: ExitStack) -> None:
    """Every connection that is left."""
    with pytest.raises(psycopg.OperationalError):
        while True:
            held.enter_context(psycopg.connect(url))


async def test_crowd_at_an_exhausted_pool(site: Site, upstream: FakeUpstream) -> None:
    upstream.enqueue(slow_reply(3, 0.0))
    async with Client(site.cluster.web[0].url, KEY) as client:
        session_id = await client.create()
        path = f"/v1/sessions/{session_id}/messages"
        one: dict[str, Any] = {"json": {"content": "hello"}, "timeout": 60}
        one["headers"] = {"Idempotency-Key": "same"}
        site.database_proxy.delay_s = 0.1
        asked = [
            *(client.http.post(path, **one) for _ in range(10)),
            *(client.http.get(path, timeout=60) for _ in range(40)),
        ]
        answers: list[httpx.Response] = await asyncio.gather(*asked)
        site.database_proxy.heal()
        assert {answer.status_code for answer in answers} <= {200, 202, 503}
        refused = [answer for answer in answers if answer.status_code == 503]
        assert all(int(each.headers["retry-after"]) > 0 for each in refused)
        posted = await client.post(session_id, key="same")
        seen: list[Event] = []
        await asyncio.wait_for(watch(client, posted, seen), PATIENCE_S)
        assert billed(await judge(client, posted, seen)) == (11, 3, False)
    assert len(upstream.requests) == 1
