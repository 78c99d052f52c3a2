"""Faults of time, shutdown and crowds; each history is read as in ``test_faults``."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.drill.acts import (
    PATIENCE_S,
    crowd_before,
    descriptors_for,
    during,
    ends,
    judge,
    slow_reply,
)
from tests.drill.history import watch
from tests.fakes.client import Client, Event, Posted
from tests.fakes.cluster import Cluster, Worker
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY
from tests.fakes.postgres import Postgres

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
QUEUE = 8  # and one more, if the first is begun before they are full


async def test_worker_that_is_asked_to_stop_ends_its_turns(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(40))

    async def act() -> None:
        # Both, one after the other: whoever has the turns brings them to an end.
        for worker in cluster.workers:
            assert await asyncio.to_thread(worker.stop) == 0

    assert ends(await during(cluster, act, turns=8)) == {"message_completed"}


async def test_database_down_while_turns_end(
    cluster: Cluster, upstream: FakeUpstream, postgres: Postgres
) -> None:
    upstream.enqueue(slow_reply(20))

    async def act() -> None:
        await asyncio.to_thread(postgres.stop, "immediate")
        await asyncio.sleep(10)
        await asyncio.to_thread(postgres.start)

    await during(cluster, act)


async def test_process_has_no_file_descriptors_left(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    """One web process and one worker; a crowd stands before the web process."""
    upstream.enqueue(slow_reply(40))
    server, worker = cluster.web[0], cluster.workers[0]

    async def act() -> None:
        with descriptors_for(server, 10), descriptors_for(worker, 0):
            await crowd_before(server)

    assert ends(await during(cluster, act)) == {"message_completed"}


@pytest.mark.parametrize("shift", ["+1h", "-1h"])
async def test_clock_of_the_workers_does_not_matter(
    cluster: Cluster, upstream: FakeUpstream, shift: str
) -> None:
    assert FAKETIME, "faketime is not installed"
    upstream.enqueue(slow_reply(50))
    clock = {
        "LD_PRELOAD": str(FAKETIME[0]),
        "FAKETIME": shift,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    for worker in cluster.workers:
        worker.freeze()
    with cluster.make(Worker, **clock):
        seen = await during(cluster, lambda: asyncio.sleep(0))
    assert ends(seen) == {"message_completed"}
    assert len(upstream.requests) == len(seen)


async def test_twenty_messages_at_once_are_answered_in_order(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(5, 0.02))
    one, other = cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        session_id = await a.create()
        path = f"/v1/sessions/{session_id}/messages"
        answers: list[httpx.Response] = await asyncio.gather(
            *(
                (a, b)[n % 2].http.post(path, json={"content": str(n)})
                for n in range(20)
            )
        )
        counts = Counter(answer.status_code for answer in answers)
        assert set(counts) == {202, 429}
        assert counts[202] >= QUEUE
        bodies = [answer.json() for answer in answers if answer.status_code == 202]
        posts = [Posted(**_snake(body)) for body in bodies]
        for post in sorted(posts, key=lambda post: int(post.cursor.split("-")[0])):
            seen: list[Event] = []
            await asyncio.wait_for(watch(b, post, seen), PATIENCE_S)
            await judge(a, post, seen)
        page = await a.get(f"{path}?limit=100")  # some may have been answered meanwhile
        roles = [message["role"] for message in page["data"]]
    assert roles == ["user", "assistant"] * len(posts)


def _snake(body: dict[str, str]) -> dict[str, str]:
    names = {"sessionId": "session_id", "turnId": "turn_id", "cursor": "cursor"}
    return {names[name]: value for name, value in body.items()}
