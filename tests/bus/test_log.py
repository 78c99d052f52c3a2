"""What every event log must do; a fixture parameter for each of them."""

from __future__ import annotations

import asyncio
import time

import pytest

from sessions_app.bus import Bus, LogGap, StaleFence
from sessions_app.bus.base import SessionGone
from sessions_app.bus.memory import memory_bus
from sessions_app.domain.cursor import START, SWEPT_TERMINAL_N, Cursor
from sessions_app.domain.events import MessageDelta, SessionEvent, StatusIdle
from sessions_app.wire.payload import Entry

S = "sess_1"


@pytest.fixture(params=["memory", "redis"])
def bus(request: pytest.FixtureRequest, memory: Bus, shared: Bus) -> Bus:
    return memory if request.param == "memory" else shared


@pytest.fixture
def memory() -> Bus:
    memory_bus.cache_clear()
    return memory_bus()


def delta(turn: int, n: int, text: str = "x") -> Entry:
    return Entry.of(Cursor(turn, n), MessageDelta(S, f"tur_{turn}", n, text))


def idle(turn: int, n: int) -> Entry:
    event: SessionEvent = StatusIdle(S)
    return Entry.of(Cursor(turn, n), event)


async def places(bus: Bus, after: Cursor, caught_up_to: int = 0) -> list[str]:
    entries = await bus.log.read(S, after, caught_up_to)
    return [str(entry.cursor) for entry in entries]


async def test_read_gives_what_follows_the_cursor(bus: Bus) -> None:
    await bus.log.append(S, 1, [delta(1, 1), delta(1, 2), delta(1, 3)])
    assert await places(bus, Cursor(1, 1)) == ["1-2", "1-3"]
    assert await places(bus, Cursor(1, 3)) == []


async def test_append_of_the_same_again_changes_nothing(bus: Bus) -> None:
    await bus.log.append(S, 1, [delta(1, 1), delta(1, 2)])
    await bus.log.append(S, 1, [delta(1, 1), delta(1, 2), delta(1, 3)])
    assert await places(bus, START) == ["1-1", "1-2", "1-3"]


async def test_log_tells_what_it_lacks(bus: Bus) -> None:
    assert await bus.log.lacks(S, Cursor(1, 1))
    await bus.log.append(S, 1, [delta(1, 1), delta(1, 2)])
    assert not await bus.log.lacks(S, Cursor(1, 2))
    assert await bus.log.lacks(S, Cursor(1, 3))
    assert await bus.log.lacks(S, Cursor(2, 1))
    await bus.log.append(S, 1, [idle(1, 3)])
    await bus.log.append(S, 1, [delta(2, 1)])
    assert not await bus.log.lacks(S, Cursor(1, 9))


async def test_older_fence_is_refused(bus: Bus) -> None:
    await bus.log.append(S, 2, [delta(1, 1)])
    with pytest.raises(StaleFence):
        await bus.log.append(S, 1, [delta(1, 2)])


async def test_fence_counts_within_its_turn_alone(bus: Bus) -> None:
    await bus.log.append(S, 9, [delta(1, 1), idle(1, 2)])
    await bus.log.append(S, 1, [delta(2, 1)])
    assert await places(bus, Cursor(1, 2)) == ["2-1"]


async def test_end_by_the_sweeper_follows_any_cursor_of_its_turn(bus: Bus) -> None:
    await bus.log.append(S, 1, [delta(1, 1), delta(1, 2)])
    end = [delta(1, SWEPT_TERMINAL_N), idle(1, SWEPT_TERMINAL_N + 1)]
    await bus.log.append(S, 2, end)
    last = [f"1-{SWEPT_TERMINAL_N}", f"1-{SWEPT_TERMINAL_N + 1}"]
    assert await places(bus, Cursor(1, 2)) == last
    assert await places(bus, Cursor(1, 0)) == ["1-1", "1-2", *last]


async def test_trimmed_turns_are_told_as_a_gap(bus: Bus, settings: object) -> None:
    settings.LANTERN = {"log_bytes": 1300}  # type: ignore[attr-defined]
    for turn in (1, 2, 3):
        await bus.log.append(S, 1, [delta(turn, 1, "x" * 200), idle(turn, 2)])
    with pytest.raises(LogGap) as gap:
        await places(bus, Cursor(1, 1))
    assert gap.value.trimmed_to == 2
    assert await places(bus, Cursor(1, 1), caught_up_to=2) == ["3-1", "3-2"]


@pytest.mark.parametrize("next_turn", [2, 3], ids=["end", "turn"])
async def test_next_turn_overtakes_nothing(bus: Bus, next_turn: int) -> None:
    """Whatever of an older turn was never written is a gap, not a hole."""
    written = [delta(1, 1)] if next_turn == 2 else [delta(1, 1), idle(1, 2)]
    await bus.log.append(S, 1, written)
    await bus.log.append(S, 1, [delta(next_turn, 1)])
    with pytest.raises(LogGap):
        await places(bus, written[-1].cursor)
    there = await places(bus, Cursor(next_turn - 1, SWEPT_TERMINAL_N), next_turn - 1)
    assert there == [f"{next_turn}-1"]


async def test_running_turn_is_never_trimmed(bus: Bus, settings: object) -> None:
    settings.LANTERN = {"log_bytes": 300}  # type: ignore[attr-defined]
    await bus.log.append(S, 1, [delta(1, n, "x" * 200) for n in range(1, 9)])
    assert len(await places(bus, START)) == 8


async def test_ended_turns_of_all_sessions_have_one_limit(
    memory: Bus, settings: object
) -> None:
    settings.LANTERN = {"log_total_bytes": 5_000}  # type: ignore[attr-defined]
    await memory.log.append("sess_running", 1, [delta(1, 1)])
    for number in range(20):
        await memory.log.append(f"sess_{number}", 1, [delta(1, 1), idle(1, 2)])
    kept = [await memory.log.head_n(f"sess_{number}", 1) for number in range(20)]
    assert sorted(kept) == kept
    assert 2 < kept.count(2) < 15
    assert await memory.log.head_n("sess_running", 1) == 1


async def test_reader_of_a_turn_that_made_way_hears_of_a_gap(
    memory: Bus, settings: object
) -> None:
    settings.LANTERN = {"log_total_bytes": 1}  # type: ignore[attr-defined]
    with memory.bell.subscribe(S, 15), pytest.raises(LogGap):
        await memory.log.append(S, 1, [delta(1, 1), idle(1, 2)])
        await places(memory, Cursor(1, 1))


async def test_quiet_session_expires_but_not_under_a_reader(
    memory: Bus, settings: object
) -> None:
    bus = memory
    settings.LANTERN = {"log_ttl_s": -1}  # type: ignore[attr-defined]
    await bus.log.append(S, 1, [delta(1, 1), idle(1, 2)])
    with bus.bell.subscribe(S, 15):
        await bus.log.append("sess_2", 1, [delta(1, 1)])
        assert await bus.log.head_n(S, 1) == 2
    await bus.log.append("sess_3", 1, [delta(1, 1)])
    assert await bus.log.head_n(S, 1) == 0


async def test_dropped_session_lets_its_readers_go(bus: Bus) -> None:
    await bus.log.append(S, 1, [delta(1, 1)])
    await bus.log.drop(S)
    with pytest.raises(SessionGone):
        await places(bus, START)


async def test_ring_during_work_is_not_missed(bus: Bus) -> None:
    with bus.bell.subscribe(S, 15) as place:
        await place.ready()
        await bus.bell.ring(S)
        assert await place.wait() is True


# A heartbeat that fell due in the same turn of the loop swallowed the ring, and the
# reader slept through the end of its turn.
async def test_ring_beside_a_heartbeat_is_not_missed(bus: Bus) -> None:
    await bus.log.append(S, 1, [delta(1, 1)])
    with bus.bell.subscribe(S, 0) as place:
        await place.ready()
        waiting = asyncio.create_task(place.wait())
        await asyncio.sleep(0)
        place.tick(time.monotonic())
        await bus.bell.ring(S)
        heard = [await waiting]
        heard += [await asyncio.wait_for(place.wait(), 2)] if not heard[0] else []
    assert True in heard


# With Redis an open turn that is silent is looked after each five seconds, and each
# look put the heartbeat off: in a minute of silence none came, and proxies cut streams.
async def test_rings_that_bring_nothing_put_no_heartbeat_off(bus: Bus) -> None:
    with bus.bell.subscribe(S, 15) as place:
        begin = time.monotonic()
        await asyncio.sleep(0.1)
        place.ring()  # type: ignore[attr-defined]
        assert await place.wait() is True
        waiting = asyncio.create_task(place.wait())
        await asyncio.sleep(0)
        place.tick(begin + 15.05)  # type: ignore[attr-defined]
        assert await asyncio.wait_for(waiting, 1) is False


async def test_heartbeat_waits_until_nothing_was_said(bus: Bus) -> None:
    with bus.bell.subscribe(S, 15) as place:
        begin = time.monotonic()
        await asyncio.sleep(0.1)
        place.said()
        waiting = asyncio.create_task(place.wait())
        await asyncio.sleep(0)
        place.tick(begin + 15.05)  # type: ignore[attr-defined]
        await asyncio.sleep(0.01)
        assert not waiting.done()
        place.tick(begin + 15.2)  # type: ignore[attr-defined]
        assert await asyncio.wait_for(waiting, 1) is False


async def test_silence_gives_a_heartbeat(bus: Bus) -> None:
    with bus.bell.subscribe(S, 0.01) as place:
        assert await place.wait() is False
