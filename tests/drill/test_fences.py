"""Workers that wake up late: what they go on with has been another's for a while.

Only a turn that was put back, and is run by a second worker, shows whether the first
one can still write. Nothing was shown of it before, so its log and rows look alike to
both: the number of the claim tells them apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.drill.acts import PATIENCE_S, is_begun, judge, slow_reply
from tests.drill.history import watch
from tests.fakes.client import Client, Event
from tests.fakes.cluster import Cluster, Worker
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply, Step
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, finish, text, usage
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

OLD_WORDS = [text(f"old{n} ") for n in range(60)]
WOKEN_S = 2.0


def late(*steps: Step, status: int = 200) -> Reply:
    """An answer that comes when who asked for it is frozen."""
    return Reply([0.5, *steps], status=status)


@asynccontextmanager
async def two_runners(
    cluster: Cluster, upstream: FakeUpstream
) -> AsyncIterator[tuple[Worker, Worker, list[Event]]]:
    """A frozen worker, the one that has its turn now, and what a reader is told.

    At the end the turn is complete, without a word of the first answer.
    """
    spare, other = cluster.workers
    for worker in (spare, other):
        worker.freeze()
    # One that looks after its claims would stop by itself in most cases, milliseconds
    # after it was woken: that is a help, and no lock.
    frozen = cluster.make(Worker, LANTERN_RENEW_S="60")
    with frozen:
        async with Client(cluster.web[1].url, KEY) as client:
            posted = await client.post(await client.create())
            await until(lambda: upstream.requests, PATIENCE_S)
            frozen.freeze()
            other.thaw()
            seen: list[Event] = []
            reader = asyncio.create_task(watch(client, posted, seen))
            await until(lambda: len(upstream.requests) == 2, PATIENCE_S)
            yield frozen, other, seen
            await asyncio.wait_for(reader, PATIENCE_S)
            turn = await judge(client, posted, seen)
    assert seen[-1].kind == "message_completed"
    assert "old" not in turn["text"]
    keys = {each.headers["idempotency-key"] for each in upstream.requests}
    assert len(keys) == 1


async def test_late_words_are_no_part_of_the_answer(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.enqueue(
        late(*OLD_WORDS, finish(), usage(11, 60), DONE), slow_reply(20, 0.2)
    )
    async with two_runners(cluster, upstream) as (frozen, _, seen):
        await until(lambda: is_begun(seen), PATIENCE_S)
        frozen.thaw()


async def test_late_refusal_ends_nothing(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    body = b'{"error": {"message": "no", "type": "authentication_error"}}'
    upstream.enqueue(late(body, status=401), slow_reply(20, 0.2))
    async with two_runners(cluster, upstream) as (frozen, _, seen):
        await until(lambda: is_begun(seen), PATIENCE_S)
        frozen.thaw()
    assert len(upstream.requests) == 2


async def test_late_words_do_not_count_as_shown(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    """A turn of which words were shown is not run again when its worker dies."""
    upstream.enqueue(late(*OLD_WORDS), Reply([HOLD]), slow_reply(5, 0.0))
    async with two_runners(cluster, upstream) as (frozen, other, _):
        frozen.thaw()
        await asyncio.sleep(WOKEN_S)
        other.kill()
    assert len(upstream.requests) == 3
