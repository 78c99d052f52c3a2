"""One suite for the counters of a process and those in Redis."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from sessions_app.bus.counters import (
    SLOT_S,
    SLOTS,
    WINDOW_S,
    Counters,
    MemoryCounters,
    Quota,
    SharedCounters,
)
from sessions_app.bus.redis_url import RedisUrl
from tests.fakes.redis_server import RedisServer

SHORT_S = 0.1
Make = Callable[..., Counters]


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    with RedisServer.temporary() as redis:
        yield redis


@pytest.fixture(params=["memory", "redis"])
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    if request.param == "memory":
        yield MemoryCounters
        return
    client = RedisUrl.parse(request.getfixturevalue("redis").url).blocking_client()
    client.flushall()
    yield lambda **options: SharedCounters(client, **options)
    client.close()


def test_limit_is_met_and_not_passed(make: Make) -> None:
    counters = make()
    fulls = [counters.take([Quota("a", 3)]).full for _ in range(5)]
    assert fulls == [-1, -1, -1, 0, 0]


def test_all_quotas_count_or_none(make: Make) -> None:
    counters = make()
    counters.take([Quota("b", 1)])
    assert counters.take([Quota("a", 5), Quota("b", 1)]).full == 1
    assert counters.take([Quota("a", None, 0), Quota("b", None, 0)]).totals == (0, 1)


def test_looking_counts_nothing(make: Make) -> None:
    counters = make()
    assert counters.take([Quota("a", None), Quota("a2", None, 0)]).totals == (1, 0)
    assert counters.take([Quota("a", None, 0)]).totals == (1,)


def test_limit_of_zero_refuses_everything(make: Make) -> None:
    taken = make().take([Quota("a", 0)])
    assert taken.full == 0
    assert taken.wait_s >= WINDOW_S


# What is refused would otherwise keep whoever asks again out for ever.
def test_refusals_do_not_count(make: Make) -> None:
    counters = make(slot_s=SHORT_S)
    counters.take([Quota("a", 1)])
    end = time.monotonic() + SLOTS * SHORT_S + 1
    while time.monotonic() < end:
        if counters.take([Quota("a", 1)]).full < 0:
            return
        time.sleep(0.02)
    raise AssertionError("refused although it waited")


def test_wait_ends_where_it_says(make: Make) -> None:
    counters = make(slot_s=SHORT_S)
    counters.take([Quota("a", 1)])
    wait_s = counters.take([Quota("a", 1)]).wait_s
    assert (SLOTS - 1) * SHORT_S <= wait_s + 0.1 <= SLOTS * SHORT_S + 0.1
    time.sleep(wait_s + 0.02)
    assert counters.take([Quota("a", 1)]).full == -1


def test_many_threads_share_one_limit(make: Make) -> None:
    counters = make()
    passed: list[int] = []

    def ask() -> None:
        for _ in range(10):
            passed.append(counters.take([Quota("a", 25)]).full)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert passed.count(-1) == 25


# Counted by whole minutes, twice the limit went through around their edge.
@pytest.mark.parametrize("start", [0.0, 3.3, 59.9, 61.0])
def test_no_minute_holds_more_than_the_limit(start: float) -> None:
    now = start
    counters = MemoryCounters(lambda: now)
    times = []
    for step in range(4000):
        now = start + step * 0.1
        if counters.take([Quota("a", 10)]).full < 0:
            times.append(now)
    most = max(sum(t <= each < t + WINDOW_S for each in times) for t in times)
    assert most == 10
    assert len(times) >= 10 * (400 // (WINDOW_S + SLOT_S))


def test_memory_is_bounded() -> None:
    counters = MemoryCounters(most_counters=100)
    for number in range(1000):
        counters.take([Quota(f"n{number}", 5)])
    assert len(counters._slots) == 100


def test_without_redis_each_process_counts_its_own() -> None:
    nowhere = RedisUrl.parse("redis://127.0.0.1:1/0").blocking_client()
    counters = SharedCounters(nowhere)
    assert [counters.take([Quota("a", 1)]).full for _ in range(2)] == [-1, 0]


def test_counters_in_redis_expire(redis: RedisServer) -> None:
    client = RedisUrl.parse(redis.url).blocking_client()
    SharedCounters(client).take([Quota("expiring", 1)])
    assert WINDOW_S < client.ttl("lantern:pace:expiring") <= WINDOW_S + SLOT_S + 1
    client.close()
