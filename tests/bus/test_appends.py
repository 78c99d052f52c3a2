"""What turns of one process append together."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.exceptions import ResponseError

from sessions_app.bus import FAILURES
from sessions_app.bus import appends as appends_module
from sessions_app.bus.appends import BYTES_AT_ONCE, SESSIONS_AT_ONCE, Appends
from sessions_app.domain.cursor import SWEPT_TERMINAL_N
from sessions_app.wire.payload import Entry
from tests.bus.test_log import delta
from tests.bus.test_trips import Stuck

CROWD = 2 * SESSIONS_AT_ONCE + 1


async def ask(appends: Appends, name: str, *entries: Entry, fence: int = 1) -> Any:
    keys = (f"{name}:log", f"{name}:meta", f"{name}:head")
    return await appends.ask(keys, 1, fence, list(entries), forced=False)


async def runs_of_the_script(client: Any) -> int:
    stats = await client.info("commandstats")
    return int(stats["cmdstat_evalsha"]["calls"])


async def test_appends_of_a_crowd_are_few_commands(client: Any) -> None:
    appends = Appends(client)
    await ask(appends, "first", delta(1, 1))  # the script is known from here on
    before = await runs_of_the_script(client)
    names = [str(number) for number in range(CROWD)]
    answers = await asyncio.gather(
        *(ask(appends, each, delta(1, 1, each), delta(1, 2)) for each in names)
    )
    assert answers == [[b"ok"]] * CROWD
    assert await runs_of_the_script(client) == before + 3
    for name in (names[0], names[-1]):
        rows = await client.xrange(f"{name}:log")
        assert [id_ for id_, _ in rows] == [b"1-1", b"1-2"]
        assert rows[0][1][b"b"] == delta(1, 1, name).body
        assert await client.get(f"{name}:head") == b"1-2-0"


async def test_long_events_go_apart(client: Any) -> None:
    appends = Appends(client)
    await ask(appends, "first", delta(1, 1))
    before = await runs_of_the_script(client)
    text = "a" * (BYTES_AT_ONCE // 2)
    await asyncio.gather(*(ask(appends, str(n), delta(1, 1, text)) for n in range(4)))
    assert await runs_of_the_script(client) == before + 4
    assert [await client.xlen(f"{n}:log") for n in range(4)] == [1] * 4


async def test_any_byte_is_kept(client: Any) -> None:
    entry = delta(1, 1)
    entry.body, entry.raw = bytes(range(256)).replace(b"\n", b""), b"\xff\x00"
    assert await ask(Appends(client), "a", entry) == [b"ok"]
    [(_, fields)] = await client.xrange("a:log")
    assert fields[b"b"] == entry.stored


async def test_place_of_a_swept_end_is_written_as_it_is(client: Any) -> None:
    end = delta(1, SWEPT_TERMINAL_N)
    assert await ask(Appends(client), "a", end) == [b"ok"]
    [(id_, _)] = await client.xrange("a:log")
    assert id_ == b"1-%d" % SWEPT_TERMINAL_N


async def test_each_session_has_its_own_answer(client: Any) -> None:
    appends = Appends(client)
    await ask(appends, "a", delta(1, 1), fence=2)
    answers = await asyncio.gather(
        ask(appends, "a", delta(1, 2), fence=1),
        ask(appends, "b", delta(1, 3)),
        ask(appends, "a", delta(1, 2), fence=2),
    )
    assert answers == [[b"stale"], [b"gap", 0], [b"ok"]]


async def test_broken_log_of_one_session_keeps_nobody_elses_back(client: Any) -> None:
    await client.rpush("broken:head", "no text")
    appends = Appends(client)
    answers = await asyncio.gather(
        *(ask(appends, each, delta(1, 1)) for each in ("a", "broken", "b")),
        return_exceptions=True,
    )
    assert [answers[0], answers[2]] == [[b"ok"], [b"ok"]]
    assert isinstance(answers[1], ResponseError)
    assert "WRONGTYPE" in str(answers[1])


async def test_script_that_redis_forgot_is_loaded_again(client: Any) -> None:
    appends = Appends(client)
    await ask(appends, "a", delta(1, 1))
    await client.script_flush()
    assert await ask(appends, "a", delta(1, 2)) == [b"ok"]


async def test_full_redis_refuses_each_and_keeps_what_it_has(client: Any) -> None:
    appends = Appends(client)
    await ask(appends, "a", delta(1, 1))
    await client.config_set("maxmemory", 1)
    try:
        answers = await asyncio.gather(
            *(ask(appends, each, delta(1, 2)) for each in ("a", "b")),
            return_exceptions=True,
        )
    finally:
        await client.config_set("maxmemory", 0)
    full, gap = answers
    assert isinstance(full, FAILURES)
    assert "OOM" in str(full)
    assert gap == [b"gap", 0]
    assert await client.xlen("a:log") == 1
    assert await client.get("a:head") == b"1-1-0"


async def test_who_leaves_takes_no_answer_from_others(client: Any) -> None:
    appends = Appends(client)
    leaving, staying = (
        asyncio.create_task(ask(appends, each, delta(1, 1))) for each in "ab"
    )
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == [b"ok"]


class StuckScript(Stuck):
    """The same for the script."""

    async def execute_command(self, *_: Any) -> None:
        await asyncio.get_running_loop().create_future()


async def test_close_leaves_nobody_waiting() -> None:
    appends = Appends(StuckScript())
    going = [
        asyncio.create_task(ask(appends, str(n), delta(1, 1))) for n in range(CROWD)
    ]
    await asyncio.sleep(0.01)
    going += [asyncio.create_task(ask(appends, "late", delta(1, 1)))]
    await asyncio.sleep(0.01)
    await appends.close()
    done, waiting = await asyncio.wait(going, timeout=1)
    assert not waiting
    assert all(isinstance(each.exception(), FAILURES) for each in done)


async def test_script_that_gets_stuck_fails_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(appends_module, "PATIENCE_S", 0.05)
    with pytest.raises(FAILURES):
        await asyncio.wait_for(ask(Appends(StuckScript()), "a", delta(1, 1)), 2)
