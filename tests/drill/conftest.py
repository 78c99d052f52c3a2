"""The services that faults are done to."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import TOML
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY
from tests.fakes.postgres import Postgres
from tests.fakes.redis_server import RedisServer

_numbers = itertools.count()
Start = Callable[..., Any]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres.temporary() as postgres:
        yield postgres


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with RedisServer.temporary() as redis:
        yield redis


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as upstream:
        yield upstream


@pytest.fixture
async def start(
    tmp_path: Path, upstream: FakeUpstream, postgres: Postgres, redis: RedisServer
) -> AsyncIterator[Start]:
    """Start an installation; it is ended with the test."""
    async with AsyncExitStack() as stack:

        async def start(**options: Any) -> Cluster:
            toml = TOML.format(base_url=upstream.base_url, key=KEY)
            folder = tmp_path / f"lantern_drill_{next(_numbers)}"
            options.setdefault("redis_url", redis.url)
            cluster = Cluster(folder, toml, postgres, **options)
            return await stack.enter_async_context(cluster)

        yield start


@pytest.fixture
async def cluster(start: Start) -> Cluster:
    """Two web processes and two workers."""
    return await start()
