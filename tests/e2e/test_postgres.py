"""Connections on a PostgreSQL that has few of them (case C38)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import psycopg
import pytest

from tests.e2e.conftest import Serve
from tests.fakes.client import Client, Posted, check_turn
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY, LiveServer, manage
from tests.fakes.openai_events import DONE, finish, text
from tests.fakes.postgres import Postgres

pytestmark = [pytest.mark.live, pytest.mark.timeout(90)]

COUNT = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lantern'"
STREAMS = 25
MOST_CONNECTIONS = 4


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with Postgres.temporary(max_connections="20") as postgres:
        yield postgres


@pytest.fixture
def small(
    serve: Serve, upstream: FakeUpstream, postgres: Postgres, tmp_path: Path
) -> LiveServer:
    """A server on that PostgreSQL."""
    url = postgres.create("small")
    manage(tmp_path, "migrate", "--verbosity", "0", DATABASE_URL=url)
    return serve(upstream.base_url, DATABASE_URL=url)


def connections(postgres: Postgres) -> int:
    with psycopg.connect(postgres.url()) as connection:
        return int(connection.execute(COUNT).fetchone()[0])  # type: ignore[index]


async def test_streams_and_waiting_turns_hold_no_connection(
    small: LiveServer, upstream: FakeUpstream, postgres: Postgres
) -> None:
    upstream.enqueue(Reply([text("a"), 3.0, text("b"), finish(), DONE]))
    async with Client(small.url, KEY) as client, AsyncExitStack() as stack:
        posted: list[Posted] = []
        for _ in range(STREAMS):
            session_id = await client.create()
            stream = client.events(session_id, "0-0")
            await stack.enter_async_context(aclosing(stream))
            assert (await anext(stream)).kind == ":"
            posted.append(await client.post(session_id))
        assert connections(postgres) <= MOST_CONNECTIONS
        for events in await asyncio.gather(*map(client.until_idle, posted)):
            check_turn(events)
        assert connections(postgres) <= MOST_CONNECTIONS
