"""Turns over a command, in the order of a route."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sessions_app.models import Attempt, Provider, Turn
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.upstreams import deltas, end, upstreams
from tests.fakes.fake_upstream import Reply
from tests.providers.exec.programs import own_children, program

UNASKED = Reply(status=500)


async def command_first(source: str, **fields: Any) -> None:
    def change() -> None:
        row = Provider.objects.get(name="primary")
        row.kind, row.base_url = "exec", ""
        row.command = list(program(source).command)
        row.first_content_timeout_s = row.idle_timeout_s = 5
        for name, value in fields.items():
            setattr(row, name, value)
        row.save()

    await in_thread(change)


async def test_command_answers_a_turn(engine: Engine) -> None:
    async with upstreams(engine, UNASKED) as pair:
        await command_first("say(sys.stdin.buffer.read().upper())")
        events = await pair.run("Grüße")
    assert end(events) == ("message_completed", "GRüßE")
    assert pair.asked == (0, 0)
    usage = next(e for kind, e in events if kind == "message_completed")["usage"]
    assert (usage["tokensOut"], usage["estimated"]) == (2, True)
    assert usage["tokensIn"] > 0


@pytest.mark.parametrize(
    "source",
    ["sys.exit(1)", "pass", "os.kill(os.getpid(), 9)", "import nothing_here"],
)
async def test_command_without_text_fails_over(engine: Engine, source: str) -> None:
    async with upstreams(engine, UNASKED) as pair:
        await command_first(source)
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")
    assert (deltas(events), pair.asked) == ([(1, "fine")], (0, 1))


async def test_missing_program_fails_over(engine: Engine) -> None:
    async with upstreams(engine, UNASKED) as pair:
        await command_first("", command=["no-such-program-here"])
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")
    attempt = await in_thread(Attempt.objects.get, provider="primary")
    assert attempt.error_code == "provider_unreachable"


async def test_command_that_fails_after_text_is_an_error(engine: Engine) -> None:
    async with upstreams(engine, UNASKED) as pair:
        await command_first("say(b'Hel'); sys.exit(1)")
        events = await pair.run()
    assert end(events) == ("message_error", "stream_truncated")
    assert (deltas(events), pair.asked) == ([(1, "Hel")], (0, 0))


async def test_silent_command_fails_over_and_is_ended(engine: Engine) -> None:
    before = own_children()
    async with upstreams(engine, UNASKED) as pair:
        await command_first("time.sleep(60)", first_content_timeout_s=0.5)
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")
    assert own_children() <= before


async def test_lines_without_text_are_no_progress(engine: Engine) -> None:
    source = "while True: say(b'{}\\n'); time.sleep(0.05)"
    async with upstreams(engine, UNASKED) as pair:
        await command_first(
            source, output="jsonl", text_path="t", first_content_timeout_s=0.5
        )
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")


async def test_cancelled_turn_ends_its_command(engine: Engine) -> None:
    before = own_children()
    async with upstreams(engine, UNASKED) as pair:
        await command_first("say(b'Hel'); time.sleep(60)")
        running = asyncio.create_task(pair.run())
        await engine.until("message_delta")
        turn = await in_thread(Turn.objects.get)
        engine.hosts[0].cancel(turn.pk)
        events = await running
    assert end(events) == ("message_completed", "Hel")
    assert own_children() <= before
