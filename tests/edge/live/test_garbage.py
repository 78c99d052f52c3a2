"""Streams and turns are gone once they are over: they wait for no collection.

One that reaches old garbage stops all streams of the process for a tenth of a second.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from sessions_app.edge.live.post import MessageConsumer, SessionsConsumer
from sessions_app.edge.live.sse import EventsConsumer
from sessions_app.engine.rounds import Rounds
from sessions_app.engine.turn import TurnRun
from tests.fakes.edge import Live
from tests.fakes.waiting import until

KINDS = (EventsConsumer, MessageConsumer, SessionsConsumer, Rounds, TurnRun)


class Living:
    """What lives now and did not when this was made."""

    def __init__(self) -> None:
        # Other tests may have left some that something still holds.
        self._before = [each for each in gc.get_objects() if type(each) in KINDS]

    def __call__(self) -> list[type]:
        before = set(map(id, self._before))
        found = (each for each in gc.get_objects() if type(each) in KINDS)
        return [type(each) for each in found if id(each) not in before]


@pytest.fixture
def living() -> Iterator[Living]:
    """Without the collector, which would remove what is left."""
    gc.collect()
    gc.disable()
    yield Living()
    gc.enable()


async def test_what_is_over_is_gone(live: Live, living: Living) -> None:
    for _ in range(3):
        made = await live.client.request("POST", "/v1/sessions", json={})
        path = f"/v1/sessions/{made.json['id']}"
        async with live.client.stream(f"{path}/events") as stream:
            await live.client.request("POST", f"{path}/messages", json={"content": "a"})
            await stream.events("session.status_idle")
            assert EventsConsumer in living()
    await until(lambda: not living())


async def test_answer_that_is_left_is_gone(live: Live, living: Living) -> None:
    go_on = asyncio.Event()
    live.plays([go_on])
    async with live.client.stream(
        f"{live.path}/messages",
        "POST",
        json={"content": "a"},
        headers={"accept": "text/event-stream"},
    ) as stream:
        await stream.events(count=1)
        assert MessageConsumer in living()
    await until(lambda: MessageConsumer not in living())
    go_on.set()
