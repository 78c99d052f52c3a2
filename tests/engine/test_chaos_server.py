"""Turns against a chaos server that others wrote, and the table of what came of them.

``llmock`` breaks its answers on demand: it drops the connection, ends the stream early
and cleanly, stops sending, sends what is not JSON, or refuses with a status.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest
from llmock.scenarios import Fail, Match, Reply, StreamFault
from llmock.testing import LLMockServer
from llmock.verdict import judge

from sessions_app.models import Attempt, Provider, Turn
from sessions_app.providers.http import close_transports
from sessions_app.providers.registry import adapter_for
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine, Event

ENDS = ("message_completed", "message_error", "turn_failed")
TEXT = "The quick brown fox jumps over the lazy dog and runs away into the forest."
PATHS = {"openai": "/v1", "anthropic": "/anthropic/v1"}
STREAM_FAULTS = ("disconnect", "truncate", "stall", "malformed")
# What the server itself may complain of. It also misses retries of a stream that broke,
# as it sees neither the other account that answered nor the text that was made void.
MISCONDUCT = {"retry_after_ignored", "retried_non_retryable", "retry_storm"}
BROKEN, WHOLE = "broken-model", "whole-model"


@dataclass
class Row:
    """One fault, and what a turn came to under it."""

    family: str
    fault: str
    after: int | None = None
    has_backup: bool = True
    ends: list[str] = field(default_factory=list)
    shown: str = ""
    text: str = ""
    code: str = ""
    provider: str = ""
    state: str = ""

    @property
    def verdict(self) -> str:
        """What a reader may count on, or how it was let down."""
        if len(self.ends) != 1:
            return f"WRONG: {len(self.ends)} ends"
        (end,) = self.ends
        if end == "message_completed":
            whole = self.shown == self.text == TEXT
            served = "by the next provider" if self.provider == "backup" else "at once"
            return f"answered {served}" if whole else "WRONG: a splice"
        if end == "message_error":
            return "error, text void" if self.shown else "WRONG: an error without text"
        return "refused, nothing shown" if not self.shown else "WRONG: shown and failed"

    def cells(self) -> tuple[str, ...]:
        """The line of the table."""
        place = "at once" if self.after is None else f"before chunk {self.after + 1}"
        route = "two" if self.has_backup else "one"
        end = f"{', '.join(self.ends)} {self.code}".strip()
        return self.family, self.fault, place, route, end, self.verdict


def rows() -> list[Row]:
    found = []
    for family in PATHS:
        for fault in STREAM_FAULTS:
            found += [Row(family, fault, after) for after in (0, 1, 4)]
            found.append(Row(family, fault, 0, has_backup=False))
        for status in ("500", "429"):
            found += [Row(family, status, has_backup=both) for both in (True, False)]
        found.append(Row(family, "none"))
    return found


def table(found: list[Row]) -> str:
    head = ("provider", "fault", "where", "route", "end", "verdict")
    lines = [head, *(row.cells() for row in found)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )


@pytest.fixture(scope="module")
def chaos() -> Iterator[LLMockServer]:
    with LLMockServer() as server:
        yield server


@pytest.fixture
async def host(engine: Engine) -> AsyncIterator[Engine]:
    host = await engine.host_with(adapter_for)
    yield engine
    await host.close(0.0)
    await close_transports()


def place(engine: Engine, chaos: LLMockServer, row: Row) -> None:
    """Two accounts at the chaos server; only the first one's model is broken."""
    chaos.state.scenarios.clear()
    chaos.state.scenarios.add(Reply(text=TEXT, times=None))
    match = Match(model=BROKEN)
    if row.fault.isdecimal():
        chaos.state.scenarios.add(Fail(int(row.fault), times=None, match=match))
    elif row.after is not None:
        chaos.state.scenarios.add(
            StreamFault(row.fault, row.after, 30.0, times=None, match=match)  # type: ignore[arg-type]
        )
    for name, kind in (("primary", row.family), ("backup", "openai")):
        provider = Provider.objects.get(name=name)
        provider.kind, provider.allow_private = kind, True
        provider.base_url = chaos.url + PATHS[kind]
        # Only silence is to run into them, so that each fault is seen for what it is.
        patience_s = 0.5 if row.fault == "stall" else 20.0
        provider.first_content_timeout_s = provider.idle_timeout_s = patience_s
        provider.cool_until = None
        provider.save()
    engine.agent.route = [f"primary/{BROKEN}", f"backup/{WHOLE}"][: 1 + row.has_backup]
    engine.agent.save()


async def run(engine: Engine, row: Row) -> None:
    """One turn, as its reader saw it."""
    posted = await engine.post(f"{row.family} {row.fault} {row.after}")
    engine.hosts[0].begin(posted.turn_id)
    events: list[Event] = await engine.events(posted)
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    last = await in_thread(Attempt.objects.filter(turn=turn).order_by("number").last)
    row.ends = [kind for kind, _ in events if kind in ENDS]
    row.shown = "".join(e["delta"] for kind, e in events if kind == "message_delta")
    end = next(event for kind, event in events if kind in ENDS)
    row.text, row.code = end.get("text", ""), end.get("code", "")
    row.provider, row.state = last.provider if last else "", turn.state


@pytest.mark.timeout(60)
async def test_every_fault_of_a_chaos_server_has_its_one_end(
    host: Engine, chaos: LLMockServer, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rows()
    for row in found:
        await in_thread(place, host, chaos, row)
        await run(host, row)
    judged = judge(chaos.state.journal.records(wait=2.0))
    with capsys.disabled():
        sys.stdout.write(f"\n{table(found)}\n")
    assert [row.cells() for row in found if row.verdict.startswith("WRONG")] == []
    assert {row.state for row in found} == {"completed", "failed"}
    assert judged.faults == sum(row.fault != "none" for row in found)
    assert {each.code for each in judged.findings}.isdisjoint(MISCONDUCT)
    for row in found:
        # Before the first word another provider answers, after it none may.
        if row.has_backup and not row.shown:
            assert row.ends == ["message_completed"], row
        if row.fault != "none" and row.shown and row.provider == "primary":
            assert row.ends == ["message_error"], row
