"""Models that ask for what they may not have, for ever, or for far too much."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady, UsagePart
from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.route import TurnWork
from sessions_app.domain.tooling import ToolContext
from sessions_app.engine.rounds import LIMIT_REPLY
from sessions_app.engine.toolbox import CUT_NOTE, Toolbox
from sessions_app.models import Tool, ToolCall
from sessions_app.store.db import in_thread
from sessions_app.tools.builtin import BUILTIN
from sessions_app.tools.python_tool import PythonTool, tool
from tests.engine.conftest import Engine, Event
from tests.fakes.scripted_provider import ScriptedProvider, Step, says

WANTS_TOOLS = FinishPart(StopReason.STOP, is_tool_calls=True)
ran: list[int] = []


@tool
def count(number: int) -> str:
    """Count its own runs."""
    ran.append(number)
    return "x" * number


@tool
async def hang() -> str:
    """Never end."""
    await asyncio.Event().wait()
    return ""


@pytest.fixture(autouse=True)
def nothing_ran() -> Iterator[None]:
    ran.clear()
    yield


@pytest.fixture
async def tools(engine: Engine) -> Engine:
    def make() -> None:
        for name in ("count", "hang"):
            path = f"{__name__}:{name}"
            Tool.objects.create(name=name, kind="python", settings={"path": path})
        engine.agent.tools = ["count", "hang"]
        engine.agent.save()

    await in_thread(make)
    return engine


def asks(*calls: tuple[str, dict[str, Any]], first: int = 0) -> list[Step]:
    made = [
        ToolCallReady(f"call_{n}", name, arguments)
        for n, (name, arguments) in enumerate(calls, first)
    ]
    return [*made, UsagePart(tokens_in=10, tokens_out=1), WANTS_TOOLS]


def kinds(events: list[Event]) -> list[str]:
    return [kind for kind, _ in events]


# C16
async def test_model_that_asks_for_ever_gets_five_rounds(tools: Engine) -> None:
    provider = ScriptedProvider(asks(("count", {"number": 1})))
    events = await tools.run(provider)
    assert (len(ran), len(provider.requests)) == (5, 6)
    end = dict(events)["message_completed"]
    assert (end["text"], end["stopReason"]) == (LIMIT_REPLY, "tool_rounds")
    assert (end["usage"]["tokensIn"], end["usage"]["tokensOut"]) == (60, 6)


# An id that repeats over rounds would give one result to two calls.
async def test_repeated_ids_are_told_apart(tools: Engine) -> None:
    again = asks(("count", {"number": 1}))
    provider = ScriptedProvider(again, again, says("ok"))
    await tools.run(provider)
    ids = await in_thread(lambda: list(ToolCall.objects.values_list("call_id")))
    assert len(set(ids)) == 2
    asked = [m.tool_calls[0].call_id for m in provider.requests[2].messages[1::2]]
    told = [m.tool_call_id for m in provider.requests[2].messages[2::2]]
    assert asked == told


@pytest.mark.parametrize(
    "call",
    [
        ("rm", {"path": "/"}),
        ("current_time", {}),
        ("count", {}),
        ("count", {"number": "1"}),
        ("count", {"number": 1, "__class__": 2}),
        ("", {}),
        ("count\x00\ud800", {"number": 1}),
        ("c" * 5_000, {"number": 1}),
    ],
)
async def test_unfit_call_has_no_effect(
    tools: Engine, call: tuple[str, dict[str, Any]]
) -> None:
    provider = ScriptedProvider(asks(call), says("ok"))
    events = await tools.run(provider)
    assert ran == []
    assert "tool_call_failed" in kinds(events)
    assert dict(events)["message_completed"]["text"] == "ok"


async def test_thousand_calls_are_mostly_refused(tools: Engine) -> None:
    flood = asks(*[("count", {"number": n}) for n in range(1000)])
    events = await tools.run(ScriptedProvider(flood, says("ok")))
    assert sorted(ran) == list(range(16))
    assert kinds(events).count("tool_call_failed") <= 984
    assert dict(events)["message_completed"]["text"] == "ok"


async def test_huge_result_is_cut_with_a_note(tools: Engine) -> None:
    provider = ScriptedProvider(asks(("count", {"number": 50_000_000})), says("ok"))
    events = await tools.run(provider)
    told = provider.requests[1].messages[-1].content
    assert len(told) == 65_536 + len(CUT_NOTE)
    assert dict(events)["tool_call_completed"]["result"] == told


async def test_tool_that_hangs_meets_its_limit(tools: Engine, settings: Any) -> None:
    settings.LANTERN = {"tool_timeout_s": 0.05}
    events = await tools.run(ScriptedProvider(asks(("hang", {})), says("ok")))
    assert dict(events)["tool_call_failed"]["error"] == "The tool took too long."


async def test_calls_of_a_round_run_side_by_side(tools: Engine, settings: Any) -> None:
    settings.LANTERN = {"tool_timeout_s": 0.4}
    hanging = asks(*[("hang", {})] * 8)
    begun = asyncio.get_running_loop().time()
    events = await tools.run(ScriptedProvider(hanging, says("ok")))
    assert kinds(events).count("tool_call_failed") == 8
    assert asyncio.get_running_loop().time() - begun < 8 * 0.4


class Broken:
    """A tool with a fault of its own."""

    spec = ToolSpec("broken", "", {"type": "object"})
    needs_approval = False

    def __init__(self, fault: BaseException) -> None:
        self.fault = fault

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        raise self.fault


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (RuntimeError("secret path /etc"), "The tool failed."),
        # One ended the server, the other the turn.
        (SystemExit(3), "The tool failed."),
        (asyncio.CancelledError(), "The tool gave up."),
    ],
    ids=["error", "exit", "cancel"],
)
async def test_broken_tool_fails_its_call_alone(
    fault: BaseException, told: str
) -> None:
    work = TurnWork("tur_1", "sess_1", 1, 1, "helper", (), ())
    clock = PythonTool.of(BUILTIN["current_time"])
    toolbox = Toolbox(work, {"broken": Broken(fault), "current_time": clock})
    calls = [ToolCallReady("a", "broken"), ToolCallReady("b", "current_time")]
    broken, time = await toolbox.run(toolbox.plan(calls, 1, ()))
    assert (broken.status, broken.error) == ("failed", told)
    assert time.result.endswith("UTC")


# C15: a call that parses may still be cut from a longer one.
async def test_cut_call_is_not_run(tools: Engine) -> None:
    call = ToolCallReady("call_0", "count", {"number": 10})
    events = await tools.run(ScriptedProvider([call, FinishPart(StopReason.LENGTH)]))
    assert ran == []
    assert dict(events)["message_completed"]["stopReason"] == "length"


@pytest.fixture
async def streaming(tools: Engine) -> Engine:
    tools.agent.stream_last_round = True
    await in_thread(tools.agent.save)
    return tools


async def test_streaming_agent_shows_its_words(streaming: Engine) -> None:
    provider = ScriptedProvider(asks(("count", {"number": 1})), says("Hel", "lo"))
    events = await streaming.run(provider)
    deltas = [event["delta"] for kind, event in events if kind == "message_delta"]
    assert deltas == ["Hel", "lo"]
    assert dict(events)["message_completed"]["text"] == "Hello"


async def test_words_before_a_call_are_part_of_the_reply(streaming: Engine) -> None:
    first = [*says("Wait. ")[:1], *asks(("count", {"number": 1}))]
    events = await streaming.run(ScriptedProvider(first, says("Done.")))
    deltas = [event["delta"] for kind, event in events if kind == "message_delta"]
    end = dict(events)["message_completed"]
    assert "".join(deltas) == end["text"] == "Wait. Done."
    assert [e["seq"] for k, e in events if k == "message_delta"] == [1, 2]
