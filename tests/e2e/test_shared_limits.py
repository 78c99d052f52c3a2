"""One limit over several processes, and over all of their memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import TOML
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY
from tests.fakes.people import SHOP
from tests.fakes.postgres import Postgres
from tests.fakes.redis_server import RedisServer

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

EMBED = f"""
[[embed]]
key = "pk_shop"
agent = "helper"
origins = ["{SHOP}"]

[[limit]]
on = "embed:pk_shop"
requests_per_minute = 12

[[limit]]
on = "visitor"
concurrent_turns = 1
"""
BOOTSTRAP = "/v1/widget/bootstrap"


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer.temporary() as redis:
        yield redis


@pytest.fixture
def cluster(
    tmp_path: Path, upstream: FakeUpstream, redis: RedisServer
) -> Iterator[Cluster]:
    """Two web processes, and nobody who runs turns."""
    with Postgres.temporary() as postgres:
        toml = TOML.format(base_url=upstream.base_url, key=KEY) + EMBED
        folder = tmp_path / "lantern_limits"
        cluster = Cluster(folder, toml, postgres, redis.url)
        cluster.workers.clear()
        with cluster:
            yield cluster


# Counted by each process for itself, the limit was twice what was written.
async def test_two_processes_share_one_limit(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    clients = [
        httpx.AsyncClient(base_url=web.url, headers={"origin": SHOP})
        for web in cluster.web
    ]
    turns = itertools.cycle(clients)
    body = {"key": "pk_shop"}
    answers = [await next(turns).post(BOOTSTRAP, json=body) for _ in range(20)]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200] * 12 + [429] * 8
    assert 0 < int(answers[-1].headers["retry-after"]) <= 65

    token = answers[0].json()["visitorToken"]
    auth = {"authorization": f"Bearer {token}"}
    sent = []
    for client in clients:
        made = await client.post("/v1/sessions", json={}, headers=auth)
        url = f"/v1/sessions/{made.json()['id']}/messages"
        sent.append(await client.post(url, json={"content": "x"}, headers=auth))
    assert [answer.status_code for answer in sent] == [202, 429]
    assert sent[1].json()["error"]["limit"] == "visitor"
    for client in clients:
        await client.aclose()
    assert not upstream.requests
