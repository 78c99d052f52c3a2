"""The embedded installation: one process on SQLite, its disk and its limits."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.drill.acts import (
    PATIENCE_S,
    Act,
    crowd_before,
    descriptors_for,
    is_begun,
    judge,
    slow_reply,
)
from tests.drill.history import watch
from tests.e2e.conftest import TOML as PLAIN
from tests.e2e.conftest import Serve
from tests.fakes.client import Client, Event
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

FILE = "lantern.sqlite3"
TURNS = 4


@pytest.fixture
async def upstream() -> Iterator[FakeUpstream]:
    async with FakeUpstream() as upstream:
        yield upstream


@pytest.fixture
def server(serve: Serve, upstream: FakeUpstream) -> LiveServer:
    made = serve(upstream.base_url)
    made.may_complain = True
    return made


async def during(server: LiveServer, act: Act) -> list[list[Event]]:
    """What readers saw of turns that ``act`` came upon; then all works as before."""
    async with Client(server.url, KEY) as client:
        posts = [await client.post(await client.create()) for _ in range(TURNS)]
        seen: list[list[Event]] = [[] for _ in posts]
        reading = [
            asyncio.create_task(watch(client, post, each))
            for post, each in zip(posts, seen, strict=True)
        ]
        await until(lambda: all(map(is_begun, seen)), PATIENCE_S)
        await act()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*reading)
            for post, events in zip(posts, seen, strict=True):
                await judge(client, post, events)
        again = await client.post(posts[0].session_id)
        assert (await client.ended(again, 20))["status"] == "completed"
    return seen


async def refused(server: LiveServer) -> None:
    """A post is answered within seconds, and says when to come again."""
    async with Client(server.url, KEY) as client:
        answer = await client.http.post("/v1/sessions", json={})
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0


async def test_database_locked_by_another_process(
    server: LiveServer, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(30))

    async def act() -> None:
        with closing(sqlite3.connect(server.folder / FILE)) as other:
            other.execute("BEGIN IMMEDIATE")
            # Longer than SQLite's own patience of 5 s, and past the turns' ends.
            await refused(server)
            await asyncio.sleep(2)

    await during(server, act)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], check=True
    )
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


async def test_disk_is_full(
    small_disk: Path, template: Path, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(30))
    toml = PLAIN.format(base_url=upstream.base_url, key=KEY)
    with LiveServer(template, small_disk / "data", toml) as server:
        server.may_complain = True

        async def act() -> None:
            fill = small_disk / "fill"
            with suppress(OSError), fill.open("wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 4096)
            await refused_at_last(server)
            fill.unlink()

        await during(server, act)


async def refused_at_last(server: LiveServer) -> None:
    """Posts until the journal has no room; what was accepted before stays so."""
    async with Client(server.url, KEY) as client:
        for _ in range(500):
            answer = await client.http.post("/v1/sessions", json={})
            if answer.status_code != 201:
                break
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) > 0


async def test_no_file_descriptors_are_left(
    server: LiveServer, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(30))

    async def act() -> None:
        with descriptors_for(server, 10):
            await crowd_before(server)

    for events in await during(server, act):
        assert events[-1].kind == "message_completed"
