"""Nothing that a command starts outlives the call, however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sessions_app.domain.errors import ProviderTimeout, StreamTruncated
from sessions_app.domain.route import ProviderConfig
from sessions_app.engine.deadline import Deadline
from sessions_app.providers.exec import ExecAdapter
from tests.fakes.outcomes import ask, collect
from tests.providers.exec.programs import (
    is_running,
    own_children,
    program,
    wait_for_number,
)

# Writes its own id, and that of a process it starts, to the files that it is given.
FAMILY = """
def note(path, number):
    with open(path, 'w') as file: print(number, file=file)
deaf = '--deaf' in sys.argv
if deaf: signal.signal(signal.SIGTERM, signal.SIG_IGN)
if not (child := os.fork()):
    if '--escape' in sys.argv: os.setsid()
    time.sleep(60)
    os._exit(0)
note(sys.argv[1], os.getpid())
note(sys.argv[2], child)
say(b'Hel')
if '--leave' not in sys.argv: time.sleep(60)
"""


class Family:
    """A command that starts a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "parent", folder / "child"

    def config(self, *flags: str) -> ProviderConfig:
        return program(FAMILY, *map(str, self.files), *flags)

    @property
    def pids(self) -> tuple[int, int]:
        parent, child = map(wait_for_number, self.files)
        return parent, child

    @property
    def is_running(self) -> bool:
        return any(map(is_running, self.pids))

    async def is_gone(self) -> bool:
        """A killed process is there for a moment longer."""
        for _ in range(20):
            if not self.is_running:
                return True
            await asyncio.sleep(0.02)
        return False


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Family]:
    before = own_children()
    made = Family(tmp_path)
    yield made
    assert own_children() <= before
    with suppress(ProcessLookupError):
        os.kill(made.pids[1], signal.SIGKILL)


async def begin(config: ProviderConfig) -> asyncio.Task[object]:
    """A call of which the first word has come."""
    heard = asyncio.Event()

    async def listen() -> None:
        async for _ in ExecAdapter().stream(config, ask()):
            heard.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(heard.wait(), 3)
    return task


async def test_cancel_ends_the_whole_family(family: Family) -> None:
    task = await begin(family.config())
    assert all(map(is_running, family.pids))
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 1
    assert await family.is_gone()


async def test_deaf_family_is_killed(family: Family) -> None:
    task = await begin(family.config("--deaf"))
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 0.9 < time.monotonic() - began < 2
    assert await family.is_gone()


async def test_second_cancel_does_not_spare_it(family: Family) -> None:
    task = await begin(family.config("--deaf"))
    task.cancel()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(1.2)
    assert await family.is_gone()


async def test_cancel_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    before = own_children()
    for rounds in range(20):
        task = asyncio.create_task(
            collect(ExecAdapter(), program("time.sleep(60)"), ask())
        )
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await asyncio.sleep(0.5)
    assert own_children() <= before


async def test_silence_past_the_deadline_ends_it(family: Family) -> None:
    with pytest.raises(ProviderTimeout), Deadline(0.5, 0.5):
        await collect(ExecAdapter(), family.config(), ask())
    assert await family.is_gone()


async def test_abandoned_stream_ends_it(family: Family) -> None:
    stream = ExecAdapter().stream(family.config(), ask())
    await anext(stream)
    await stream.aclose()
    assert await family.is_gone()


# The child inherits the pipe, so the output alone would not end for a minute.
async def test_ended_command_takes_its_children_along(family: Family) -> None:
    outcome = await collect(ExecAdapter(), family.config("--leave"), ask())
    assert (outcome.text, outcome.error) == ("Hel", None)
    assert await family.is_gone()


async def test_process_in_another_session_delays_no_end(family: Family) -> None:
    before = len(os.listdir("/proc/self/fd"))
    began = time.monotonic()
    outcome = await collect(ExecAdapter(), family.config("--leave", "--escape"), ask())
    assert (outcome.text, outcome.error) == ("Hel", None)
    assert time.monotonic() - began < 3
    await asyncio.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) == before


async def test_command_that_closes_its_output_must_end() -> None:
    before = own_children()
    config = program("say(b'Hel'); os.close(1); time.sleep(60)")
    outcome = await collect(ExecAdapter(), config, ask())
    assert outcome.text == "Hel"
    assert isinstance(outcome.error, StreamTruncated)
    assert own_children() <= before


async def test_many_commands_leave_no_zombie() -> None:
    before = own_children()
    configs = [program(f"say(b'{number}')") for number in range(20)]
    calls = [collect(ExecAdapter(), config, ask()) for config in configs]
    outcomes = await asyncio.gather(*calls)
    assert [outcome.text for outcome in outcomes] == [str(n) for n in range(20)]
    assert own_children() <= before
