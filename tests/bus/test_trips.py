"""Readers of Redis that go there together."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from redis.exceptions import ResponseError

from sessions_app.bus import FAILURES, Bus
from sessions_app.bus import trips as trips_module
from sessions_app.bus.trips import AT_ONCE, Trips
from sessions_app.domain.cursor import START
from tests.bus.test_log import delta
from tests.fakes.redis_server import RedisServer

CROWD = 3 * AT_ONCE


# Each took a connection: from the 101st on the client refused, the reader was told
# nothing, and the process took Redis for down and kept its events back.
async def test_crowd_of_readers_is_told_over_few_connections(
    shared: Bus, client: Any
) -> None:
    sessions = [f"sess_{n}" for n in range(CROWD)]
    for session_id in sessions:
        await shared.log.append(session_id, 1, [delta(1, 1, session_id)])
    read = await asyncio.gather(*(shared.log.read(each, START, 0) for each in sessions))
    told = [entry.body for entries in read for entry in entries]
    assert told == [delta(1, 1, each).body for each in sessions]
    heads = await asyncio.gather(*(shared.log.head_n(each, 1) for each in sessions))
    assert set(heads) == {1}
    assert len(await client.client_list()) < 10


async def test_same_question_is_asked_once(client: Any) -> None:
    trips = Trips(client)
    answers = await asyncio.gather(*(trips.ask(("INCR", "asked")) for _ in range(50)))
    assert answers == [[1]] * 50
    assert await trips.ask(("INCR", "asked")) == [2]


async def test_wrong_question_harms_no_other(client: Any) -> None:
    trips = Trips(client)
    await client.set("text", "a")
    wrong, right = await asyncio.gather(
        trips.ask(("GET", "text"), ("HGET", "text", "x")),
        trips.ask(("GET", "text")),
        return_exceptions=True,
    )
    assert isinstance(wrong, ResponseError)
    assert right == [b"a"]


async def test_who_leaves_takes_no_answer_from_others(client: Any) -> None:
    trips = Trips(client)
    leaving, staying = (asyncio.create_task(trips.ask(("TIME",))) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    assert len(await staying) == 1


async def test_frozen_redis_holds_nobody_up_for_another(
    client: Any, redis: RedisServer
) -> None:
    trips = Trips(client)
    await trips.ask(("TIME",))
    redis.freeze()
    begin = time.monotonic()
    asking = (trips.ask(("GET", str(n))) for n in range(CROWD))
    answers = await asyncio.gather(*asking, return_exceptions=True)
    redis.thaw()
    assert all(isinstance(answer, FAILURES) for answer in answers)
    assert time.monotonic() - begin < 4
    assert len(await trips.ask(("TIME",))) == 1


class Stuck:
    """A client whose way to Redis neither ends nor fails."""

    def pipeline(self, **_: Any) -> Stuck:
        return self

    async def __aenter__(self) -> Stuck:
        await asyncio.get_running_loop().create_future()
        return self

    async def __aexit__(self, *_: object) -> None: ...


async def test_trip_that_is_broken_off_leaves_nobody_waiting() -> None:
    trips = Trips(Stuck())
    going = [asyncio.create_task(trips.ask(("GET", str(n)))) for n in range(CROWD)]
    await asyncio.sleep(0.01)
    await trips.close()
    done, waiting = await asyncio.wait(going, timeout=1)
    assert not waiting
    assert all(isinstance(each.exception(), FAILURES) for each in done)


async def test_trip_that_gets_stuck_fails_in_the_end(monkeypatch) -> None:
    monkeypatch.setattr(trips_module, "PATIENCE_S", 0.05)
    trips = Trips(Stuck())
    with pytest.raises(FAILURES):
        await asyncio.wait_for(trips.ask(("TIME",)), 2)
