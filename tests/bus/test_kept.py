"""What a writer keeps in memory of turns that it runs no more."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.bus import Bus
from sessions_app.bus import redis_log as redis_module
from sessions_app.bus.redis_log import RedisLog
from sessions_app.bus.redis_url import RedisUrl
from sessions_app.domain.cursor import START
from tests.bus.test_log import S, delta, idle, places
from tests.fakes.waiting import until


# What a claim that was lost had written stayed in memory for ever.
async def test_writer_that_leaves_keeps_nothing(shared: Bus) -> None:
    await shared.log.append(S, 1, [delta(1, 1)])
    shared.log.leave(S, 1, 1)
    assert shared.log._written == {}


async def test_leaving_an_earlier_claim_keeps_the_later_one(shared: Bus) -> None:
    await shared.log.append(S, 1, [delta(1, 1)])
    await shared.log.append(S, 2, [delta(1, 2)])
    shared.log.leave(S, 1, 1)
    assert shared.log._written[S].fence == 2


async def test_what_redis_did_not_take_is_sent_after_the_writer_left(
    shared: Bus,
) -> None:
    shared.log._fail(ConnectionError("down"))
    await shared.log.append(S, 1, [delta(1, 1), idle(1, 2)])
    shared.log.leave(S, 1, 1)
    await until(lambda: not shared.log._unsent)
    assert await places(shared, START) == ["1-1", "1-2"]
    assert shared.log._written == {}


async def test_end_that_is_never_taken_is_forgotten(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LANTERN = {"log_ttl_s": 0.05}
    monkeypatch.setattr(redis_module, "PAUSE_S", 0.1)
    nobody = RedisLog(RedisUrl.parse("redis://127.0.0.1:1/0").client())
    await nobody.append(S, 1, [idle(1, 1)])
    await until(lambda: not nobody._unsent)
    assert nobody._written == {}
    await nobody.close()


# An old turn that came too late took the memory of the one that ran then with it:
# had Redis lost that, too, only its last part would have been written again.
async def test_late_turn_does_not_cost_the_running_one_its_memory(
    shared: Bus,
) -> None:
    shared.log._fail(ConnectionError("down"))
    await shared.log.append(S, 1, [delta(1, 1), idle(1, 2)])
    shared.log._down_until = 0.0
    await shared.log.append(S, 1, [delta(2, 1)])
    await until(lambda: not shared.log._unsent)
    await shared.log._client.flushall()
    await shared.log.append(S, 1, [delta(2, 2)])
    assert await places(shared, START, 1) == ["2-1", "2-2"]
