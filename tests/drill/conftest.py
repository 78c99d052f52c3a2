"""One installation of several processes, and the services that faults are done to.

All drills are done to the same one: what a fault broke is mended before the next. The
first web process and the first worker reach Redis and PostgreSQL through proxies.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest

from tests.drill.books import check_books
from tests.drill.toml import TOML
from tests.e2e.conftest import serve, template  # noqa: F401
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.fault_proxy import FaultProxy
from tests.fakes.live_server import KEY
from tests.fakes.ports import free_port
from tests.fakes.postgres import Postgres
from tests.fakes.redis_server import RedisServer

READY_S = 30.0
DRILLS = int(os.environ.get("LANTERN_DRILLS", "1"))
TIMES = {
    "LANTERN_LEASE_S": "3",
    "LANTERN_RENEW_S": "1",
    "LANTERN_GIVE_UP_S": "2",
    "LANTERN_SWEEP_S": "1",
}


@dataclass
class Site:
    """Everything that can be broken."""

    cluster: Cluster
    postgres: Postgres
    redis: RedisServer
    redis_proxy: FaultProxy
    database_proxy: FaultProxy
    upstream_proxy: FaultProxy
    shop_port: int
    toml: str

    def heal(self) -> None:
        """End all faults."""
        for proxy in (self.redis_proxy, self.database_proxy, self.upstream_proxy):
            proxy.heal()
        self.redis.heal()
        self.postgres.heal()
        self.cluster.heal()

    async def is_ready(self) -> None:
        """Return once each web process reaches what it leans on."""
        async with asyncio.timeout(READY_S), httpx.AsyncClient() as client:
            for server in self.cluster.web:
                while not (await client.get(f"{server.url}/ready")).is_success:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Do each drill as often as ``LANTERN_DRILLS`` says."""
    if DRILLS > 1:
        metafunc.fixturenames.append("drill_no")
        metafunc.parametrize("drill_no", range(DRILLS))


@pytest.fixture(scope="session")
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with ExitStack() as stack:
        enter = stack.enter_context
        postgres = enter(Postgres.temporary())
        redis = enter(RedisServer.temporary())
        redis_proxy = enter(FaultProxy(redis.port))
        database_proxy = enter(FaultProxy(postgres.port))
        upstream_proxy = enter(FaultProxy(free_port()))
        ports = {
            "upstream": upstream_proxy.target,
            "proxy": upstream_proxy.port,
            "shop": free_port(),
        }
        folder = tmp_path_factory.mktemp("drill") / f"lantern_drill_{os.getpid()}"
        url = postgres.url(folder.name)
        first_env = {
            "REDIS_URL": redis.url.replace(str(redis.port), str(redis_proxy.port)),
            "DATABASE_URL": url.replace(str(postgres.port), str(database_proxy.port)),
        }
        toml = TOML.format(key=KEY, **ports)
        cluster = Cluster(
            folder, toml, postgres, redis.url, first_env=first_env, **TIMES
        )
        enter(cluster)
        yield Site(
            cluster,
            postgres,
            redis,
            redis_proxy,
            database_proxy,
            upstream_proxy,
            ports["shop"],
            toml,
        )


@pytest.fixture
async def upstream(whole_site: Site) -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream(whole_site.upstream_proxy.target) as upstream:
        yield upstream


@pytest.fixture
async def site(whole_site: Site, upstream: FakeUpstream) -> AsyncIterator[Site]:
    """The installation in order; what a drill left of it must be, too."""
    whole_site.heal()
    await whole_site.is_ready()
    yield whole_site
    whole_site.heal()
    await check_books(whole_site.cluster.database_url)


@pytest.fixture
def cluster(site: Site) -> Cluster:
    """Two web processes and two workers."""
    return site.cluster


@pytest.fixture
def redis(site: Site) -> RedisServer:
    return site.redis


@pytest.fixture
def postgres(site: Site) -> Postgres:
    return site.postgres
