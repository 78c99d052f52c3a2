"""What only a log and a bell that processes share can get wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from channels.layers import get_channel_layer

from sessions_app.bus import Bus, LogGap, StaleFence, redis_bus
from sessions_app.bus.bell import READERS, SharedBell
from sessions_app.bus.redis_log import RedisLog
from sessions_app.bus.redis_url import RedisUrl
from sessions_app.domain.cursor import START, Cursor
from sessions_app.domain.events import TurnAwaitingTools
from sessions_app.wire.payload import Entry
from tests.bus.test_log import S, delta, idle, places
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import until


@pytest.fixture
async def other(shared: Bus, redis: RedisServer) -> AsyncIterator[Bus]:
    """The bus of another process."""
    bus = redis_bus(redis.url)
    yield bus
    await bus.close()


async def test_events_are_read_by_another_process(shared: Bus, other: Bus) -> None:
    written = [delta(1, 1, "好🙂"), idle(1, 2)]
    await shared.log.append(S, 1, written)
    read = await other.log.read(S, START, 0)
    assert [(e.cursor, e.kind, e.body, e.is_terminal) for e in read] == [
        (e.cursor, e.kind, e.body, e.is_terminal) for e in written
    ]


async def test_provider_messages_reach_another_process(shared: Bus, other: Bus) -> None:
    entries = [delta(1, 1, "a\nb"), delta(1, 2)]
    entries[0].raw = b'{"line":"a\\nb"}'
    with other.bell.subscribe(S, 15) as place:
        await place.ready()
        await append(shared, entries)
        assert await place.wait() is True
        heard = await other.log.read(S, START, 0)
    read = await other.log.read(S, START, 0)
    for found in (heard, read):
        assert [(e.body, e.raw) for e in found] == [(e.body, e.raw) for e in entries]
        assert b"line" not in b"".join(entry.sse for entry in found)


async def test_ring_of_another_process_brings_the_events(
    shared: Bus, other: Bus
) -> None:
    with other.bell.subscribe(S, 15) as place:
        await place.ready()
        await append(shared, [delta(1, 1), delta(1, 2)])
        assert await place.wait() is True
        assert await places(other, START) == ["1-1", "1-2"]


async def append(bus: Bus, entries: list[Entry], fence: int = 1) -> None:
    await bus.log.append(S, fence, entries)
    await bus.bell.ring(S)


async def test_lost_bell_costs_a_second(shared: Bus, other: Bus) -> None:
    with other.bell.subscribe(S, 15) as place:
        await place.ready()
        await shared.log.append(S, 1, [delta(1, 1)])  # and nobody rings
        async with asyncio.timeout(5):
            assert await place.wait() is True
        assert await places(other, START) == ["1-1"]


# While versions change: the bell was deaf from then on, and said so once at its end.
@pytest.mark.parametrize(
    "ring",
    [{}, {"told": 7}, {"told": [(S, [(1, 1)])]}, {"told": [(S, [(1, "x", "", 0, 7)])]}],
)
async def test_ring_that_is_not_understood_leaves_the_bell_heard(
    shared: Bus, other: Bus, ring: dict[str, Any]
) -> None:
    with other.bell.subscribe(S, 15) as place:
        await place.ready()
        message = {"type": "log.rung", **ring}
        await get_channel_layer().group_send(READERS, message)
        assert isinstance(other.bell, SharedBell)
        bell = other.bell
        await until(lambda: bell._is_puzzled, 2)
        await append(shared, [delta(1, 1)])
        assert await place.wait() is True
        assert await places(other, START) == ["1-1"]
        assert not bell._is_puzzled


async def test_bell_whose_ear_failed_is_heard_again(shared: Bus, other: Bus) -> None:
    with other.bell.subscribe(S, 15) as place:
        await place.ready()
        assert isinstance(other.bell, SharedBell)
        ear = other.bell._hub
        assert ear is not None
        ear.cancel()
        await asyncio.wait([ear])
        bell = other.bell
        await until(lambda: bell._is_heard(), 5)
        await append(shared, [delta(1, 1)])
        assert await place.wait() is True


# Each try made a channel more; those in the group filled up, with nobody to read them.
async def test_bell_that_was_not_hung_up_leaves_no_channel_behind(shared: Bus) -> None:
    layer = get_channel_layer()._get_layer()
    add = layer.group_add

    async def fail(group: str, channel: str) -> None:
        await add(group, channel)
        raise ConnectionError

    layer.group_add = fail
    with shared.bell.subscribe(S, 15) as place:
        for _ in range(3):
            await place.ready()
        layer.group_add = add
        await place.ready()
        assert len(layer.channels) == 1
        await append(shared, [delta(1, 1)])
        assert await place.wait() is True


async def test_events_that_do_not_continue_come_from_the_log(
    shared: Bus, other: Bus
) -> None:
    with other.bell.subscribe(S, 15) as place:
        await place.ready()
        await shared.log.append(S, 1, [delta(1, 1)])
        shared.log.fresh.clear()  # type: ignore[attr-defined]
        await append(shared, [delta(1, 2)])
        await place.wait()
        assert await places(other, START) == ["1-1", "1-2"]


async def test_lost_log_is_written_again_from_memory(shared: Bus, other: Bus) -> None:
    await shared.log.append(S, 1, [delta(3, 1), delta(3, 2)])
    await wipe(shared)
    await shared.log.append(S, 1, [delta(3, 3)])
    assert await places(other, Cursor(2, 9), 2) == ["3-1", "3-2", "3-3"]
    with pytest.raises(LogGap):
        await places(other, START)


async def wipe(bus: Bus) -> None:
    assert isinstance(bus.log, RedisLog)
    await bus.log._client.flushall()


async def test_older_state_is_filled_up(shared: Bus, other: Bus) -> None:
    older = [delta(1, n) for n in range(1, 4)]
    newer = [delta(1, n) for n in range(1, 9)]
    await shared.log.append(S, 1, newer[:8])
    await wipe(shared)
    await other.log.append(S, 1, older)
    await shared.log.append(S, 1, [delta(1, 9)])
    assert await places(other, START) == [f"1-{n}" for n in range(1, 10)]


async def test_turn_without_its_end_is_no_part_of_the_next(shared: Bus) -> None:
    await shared.log.append(S, 1, [delta(1, 1), delta(1, 2)])
    await shared.log.append(S, 1, [delta(2, 1), idle(2, 2)])
    with pytest.raises(LogGap) as gap:
        await places(shared, Cursor(1, 1))
    assert gap.value.trimmed_to == 1


async def test_stale_writer_of_another_process_is_refused(
    shared: Bus, other: Bus
) -> None:
    await shared.log.append(S, 1, [delta(1, 1)])
    await other.log.append(S, 2, [delta(1, 1), delta(1, 2)])
    with pytest.raises(StaleFence):
        await shared.log.append(S, 1, [delta(1, 3)])


async def test_turn_goes_on_without_redis_and_is_mended(settings: object) -> None:
    with RedisServer.temporary() as server:
        log = RedisLog(RedisUrl.parse(server.url).client())
        await log.append(S, 1, [delta(1, 1)])
        server.kill()
        await log.append(S, 1, [delta(1, 2)])
        await log.append(S, 1, [delta(1, 3), idle(1, 4)])
        assert await log.read(S, START, 0) == []
        assert await log.head_n(S, 1) is None
        server.start()
        await until(lambda: not log._unsent)
        assert len(await log.read(S, START, 0)) == 4
        await log.close()


async def test_full_redis_stops_no_turn() -> None:
    with RedisServer.temporary("--maxmemory", "1") as server:
        log = RedisLog(RedisUrl.parse(server.url).client())
        await log.append(S, 1, [delta(1, 1), idle(1, 2)])
        assert log._unsent
        await log.close()


@pytest.mark.parametrize(
    "url", ["http://x", "redis+sentinel://x", "redis+sentinel://x:y/m", "redis://x:y"]
)
def test_wrong_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="REDIS_URL|Port"):
        RedisUrl.parse(url)


def test_sentinels_are_read_off_the_url() -> None:
    url = RedisUrl.parse("redis+sentinel://:pw@a:1,b/main/2")
    assert url.sentinels == (("a", 1), ("b", 26379))
    assert (url.master, url.db, url.password) == ("main", 2, "pw")


async def test_log_that_is_down_lacks_nothing(shared: Bus, redis: RedisServer) -> None:
    redis.kill()
    assert not await shared.log.lacks(S, Cursor(1, 1))
    redis.start()


async def test_turn_that_waits_is_not_kept_by_who_began_it(shared: Bus) -> None:
    """Its next claim may be another process's."""
    assert isinstance(shared.log, RedisLog)
    waits = Entry.of(Cursor(1, 2), TurnAwaitingTools(S, "tur_1", 600))
    await shared.log.append(S, 1, [delta(1, 1)])
    assert shared.log._written
    await shared.log.append(S, 1, [waits])
    assert not shared.log._written
