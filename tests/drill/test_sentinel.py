"""The Redis behind Sentinels is lost, and another takes its place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.drill.conftest import Start
from tests.drill.test_faults import TIMES, during, ends, slow_reply
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.sentinel import Sentinel

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


@pytest.fixture
def sentinel() -> Iterator[Sentinel]:
    with Sentinel.temporary() as sentinel:
        yield sentinel


async def test_master_lost_in_mid_stream_behind_a_sentinel(
    start: Start, sentinel: Sentinel, upstream: FakeUpstream
) -> None:
    cluster = await start(redis_url=sentinel.url, **TIMES)
    for server in cluster.servers:
        server.may_complain = True  # of what is done to it
    upstream.enqueue(slow_reply())

    async def act() -> None:
        sentinel.lose_master()
        async with asyncio.timeout(20):
            while not await asyncio.to_thread(sentinel.has_failed_over):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    assert ends(await during(cluster, act)) == {"message_completed"}
    upstream.enqueue(slow_reply(5))

    async def nothing() -> None:
        return None

    assert ends(await during(cluster, nothing)) == {"message_completed"}
