"""The Redis behind Sentinels is lost, and another takes its place."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drill.acts import during, ends, slow_reply
from tests.drill.conftest import TIMES, Site
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.sentinel import Sentinel

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

_numbers = itertools.count()


@pytest.fixture
def sentinel() -> Iterator[Sentinel]:
    with Sentinel.temporary() as sentinel:
        yield sentinel


async def test_master_lost_in_mid_stream_behind_a_sentinel(
    site: Site, sentinel: Sentinel, tmp_path: Path, upstream: FakeUpstream
) -> None:
    folder = tmp_path / f"lantern_sentinel_{next(_numbers)}"
    cluster = Cluster(folder, site.toml, site.postgres, sentinel.url, **TIMES)

    async def act() -> None:
        sentinel.lose_master()
        async with asyncio.timeout(20):
            while not await asyncio.to_thread(sentinel.has_failed_over):  # noqa: ASYNC110
                await asyncio.sleep(0.1)

    with cluster:
        upstream.enqueue(slow_reply())
        assert ends(await during(cluster, act)) == {"message_completed"}
        upstream.replace(slow_reply(5))
        seen = await during(cluster, lambda: asyncio.sleep(0))
        assert ends(seen) == {"message_completed"}
