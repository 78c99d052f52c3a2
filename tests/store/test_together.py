"""Look-ups that go to a thread together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from sessions_app.conf import conf
from sessions_app.store.together import AT_ONCE, Together, once
from tests.fakes.waiting import until

# The threads of the store may have connections of earlier tests to close.
pytestmark = pytest.mark.django_db(transaction=True)


class Slow:
    """Doubles numbers, once it is let; zero is an error."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.may_go = threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.calls.append(list(numbers))
        assert self.may_go.wait(5)
        return [number * 2 or ValueError("zero") for number in numbers]


@pytest.fixture
def slow() -> Slow:
    return Slow()


async def test_lone_call_waits_for_no_other(slow: Slow) -> None:
    slow.may_go.set()
    together: Together[int, int] = Together(slow)
    assert await together.call(4) == 8
    assert await together.call(5) == 10
    assert slow.calls == [[4], [5]]


async def test_those_who_wait_go_together(slow: Slow) -> None:
    together: Together[int, int] = Together(slow)
    count = AT_ONCE + 20
    asking = [asyncio.create_task(together.call(n)) for n in range(1, count + 1)]
    await asyncio.sleep(0.1)
    slow.may_go.set()
    assert await asyncio.gather(*asking) == [n * 2 for n in range(1, count + 1)]
    assert [len(call) for call in slow.calls] == [AT_ONCE, 20]


async def test_error_of_one_is_no_other_s(slow: Slow) -> None:
    slow.may_go.set()
    together: Together[int, int] = Together(slow)
    answers = await asyncio.gather(
        together.call(0), together.call(1), return_exceptions=True
    )
    assert isinstance(answers[0], ValueError)
    assert answers[1] == 2


async def test_what_is_raised_all_get() -> None:
    def fail(numbers: Sequence[int]) -> list[int | Exception]:
        raise OSError("no database")

    together: Together[int, int] = Together(fail)
    answers = await asyncio.gather(
        *(together.call(n) for n in range(3)), return_exceptions=True
    )
    assert [str(answer) for answer in answers] == ["no database"] * 3


async def test_nothing_is_asked_for_who_is_gone(slow: Slow) -> None:
    together: Together[int, int] = Together(slow)
    busy = []
    for n in range(1, conf().database_threads + 1):
        busy.append(asyncio.create_task(together.call(n)))
        await until(lambda: len(slow.calls) == len(busy))
    gone, stays = (asyncio.create_task(together.call(n)) for n in (98, 99))
    await asyncio.sleep(0)
    gone.cancel()
    slow.may_go.set()
    assert await stays == 198
    await asyncio.gather(*busy)
    assert slow.calls[len(busy) :] == [[99]]


async def test_look_is_shared_by_those_that_went_together() -> None:
    looks: list[int] = []

    def look() -> int:
        looks.append(1)
        return len(looks)

    def share(numbers: Sequence[int]) -> list[int | Exception]:
        return [once("it", look) for _ in numbers]

    together: Together[int, int] = Together(share)
    assert await asyncio.gather(*(together.call(n) for n in range(5))) == [1] * 5
    assert await together.call(1) == 2
    assert once("it", look) == 3
    assert once("it", look) == 4


# The last to leave was still counted for a step, in which nobody else was sent.
async def test_who_asks_again_at_once_is_answered(settings: Any) -> None:
    settings.LANTERN = {"database_threads": 1}
    doubled: Together[int, int] = Together(lambda asked: [2 * n for n in asked])
    async with asyncio.timeout(5):
        assert [await doubled.call(n) for n in (1, 2, 3)] == [2, 4, 6]
