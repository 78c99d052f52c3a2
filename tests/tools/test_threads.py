"""Functions that never return: they keep neither the server nor its other tools."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from sessions_app.tools.threads import AllHeld, Threads

COUNT = 4
ENDS = """
import asyncio, threading
from sessions_app.tools.threads import Threads
async def main():
    async with asyncio.timeout(0.1):
        await Threads().run(threading.Event().wait)
try:
    asyncio.run(main())
except TimeoutError:
    print("ended")
"""


async def leave(threads: Threads, function: object) -> None:
    """Call a function and stop waiting for it."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await threads.run(function)


# A pool's threads are waited for when Python ends, for ever.
def test_hanging_function_lets_the_process_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=4
    )
    assert done.stdout == "ended\n", done.stderr


async def test_calls_fail_at_once_while_all_threads_are_held() -> None:
    threads, release = Threads(COUNT), threading.Event()
    await asyncio.gather(*(leave(threads, release.wait) for _ in range(COUNT)))
    with pytest.raises(AllHeld):
        await threads.run(lambda: "x")
    release.set()
    async with asyncio.timeout(2):
        while True:
            try:
                assert await threads.run(lambda: "x") == "x"
                break
            except AllHeld:
                await asyncio.sleep(0.01)
    assert threads._left in range(COUNT)


async def test_call_waits_for_a_thread_that_is_in_use() -> None:
    threads, release = Threads(COUNT), threading.Event()
    busy = [asyncio.create_task(threads.run(release.wait)) for _ in range(COUNT)]
    late = asyncio.create_task(threads.run(lambda: "late"))
    await asyncio.sleep(0.05)
    assert not late.done()
    release.set()
    assert await late == "late"
    assert await asyncio.gather(*busy) == [True] * COUNT


async def test_many_calls_leave_no_thread_behind() -> None:
    threads = Threads(COUNT)
    assert await asyncio.gather(*(threads.run(lambda: 1) for _ in range(100)))
    assert threads._free._value == COUNT


def leave_the_process() -> None:
    raise SystemExit(3)


def stop() -> None:
    raise StopIteration


@pytest.mark.parametrize("function", [leave_the_process, stop])
async def test_odd_exceptions_fail_the_call_alone(function: object) -> None:
    with pytest.raises(RuntimeError):
        await Threads().run(function)
