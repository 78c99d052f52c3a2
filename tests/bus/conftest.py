"""A Redis for the tests of what is shared."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from channels.layers import channel_layers, get_channel_layer

from lantern_site.shared import channel_layer
from sessions_app.bus import Bus, redis_bus
from sessions_app.bus.redis_url import RedisUrl
from tests.fakes.redis_server import RedisServer


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    with RedisServer.temporary() as server:
        yield server


@pytest.fixture
async def client(redis: RedisServer) -> AsyncIterator[Any]:
    """A client of an empty Redis."""
    client = RedisUrl.parse(redis.url).client()
    await client.flushall()
    yield client
    await client.aclose()


@pytest.fixture
async def shared(redis: RedisServer, settings: object) -> AsyncIterator[Bus]:
    """A bus on an empty Redis."""
    settings.CHANNEL_LAYERS = {"default": channel_layer(redis.url)}  # type: ignore[attr-defined]
    bus = redis_bus(redis.url)
    await bus.log._client.flushall()  # type: ignore[attr-defined]
    yield bus
    await bus.close()
    await get_channel_layer().flush()
    channel_layers.backends.clear()
