from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sessions_app.domain.errors import ProviderOverloaded
from sessions_app.domain.parts import (
    FinishPart,
    Part,
    StopReason,
    TextPart,
    ToolCallReady,
    UsagePart,
)
from sessions_app.engine.rounds import LIMIT_REPLY
from sessions_app.models import Attempt, ToolCall
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says

WANTS_TOOLS = FinishPart(StopReason.STOP, is_tool_calls=True)


def asks(*names: str) -> list[Part]:
    """A reply that asks for tools."""
    calls = [ToolCallReady(f"call_{i}", name) for i, name in enumerate(names)]
    return [*calls, UsagePart(tokens_in=10, tokens_out=1), WANTS_TOOLS]


@pytest.fixture
async def with_tools(engine: Engine) -> AsyncIterator[Engine]:
    engine.agent.tools = ["current_time"]
    await in_thread(engine.agent.save)
    yield engine


async def test_tool_turn_shows_calls_and_one_completed(with_tools: Engine) -> None:
    events = await with_tools.run(ScriptedProvider(asks("current_time"), says("Noon")))
    kinds = [kind for kind, _ in events]
    assert kinds[2:5] == [
        "tool_call_started",
        "tool_call_completed",
        "message_completed",
    ]
    assert events[3][1]["result"].endswith("UTC")
    assert events[4][1]["text"] == "Noon"


# C16
async def test_model_that_asks_for_ever_ends_in_words(with_tools: Engine) -> None:
    provider = ScriptedProvider(asks("current_time"))
    events = await with_tools.run(provider)
    assert len(provider.requests) == 6
    assert provider.requests[5].tools == ()
    assert events[-3][1]["text"] == LIMIT_REPLY
    assert events[-3][1]["stopReason"] == "tool_rounds"
    assert events[-3][1]["usage"]["tokensIn"] == 60


async def test_results_go_back_with_their_calls(with_tools: Engine) -> None:
    provider = ScriptedProvider(asks("current_time", "current_time"), says("ok"))
    await with_tools.run(provider)
    question, asked, first, second = provider.requests[1].messages
    assert [call.call_id for call in asked.tool_calls] == ["call_0", "call_1"]
    assert (first.tool_call_id, second.tool_call_id) == ("call_0", "call_1")
    assert (question.role, first.role) == ("user", "tool")


async def test_unknown_tool_fails_its_call_alone(with_tools: Engine) -> None:
    provider = ScriptedProvider(asks("rm", "current_time"), says("ok"))
    events = await with_tools.run(provider)
    kinds = [kind for kind, _ in events if kind.startswith("tool_call")]
    assert kinds[2:] == ["tool_call_failed", "tool_call_completed"]
    assert events[-3][1]["text"] == "ok"


# C15: it may be cut, even if it parses
async def test_truncated_call_is_not_run(with_tools: Engine) -> None:
    call = ToolCallReady("call_1", "current_time", {"amount": 10})
    provider = ScriptedProvider([call, FinishPart(StopReason.LENGTH)])
    events = await with_tools.run(provider)
    assert events[-3][1]["stopReason"] == "length"
    assert not await in_thread(ToolCall.objects.exists)


async def test_rounds_fail_over_before_anything_is_shown(with_tools: Engine) -> None:
    provider = ScriptedProvider(
        asks("current_time"), [ProviderOverloaded()], says("ok")
    )
    events = await with_tools.run(provider)
    assert events[-3][1]["text"] == "ok"
    names = [config.name for config in provider.configs]
    assert names == ["primary", "primary", "backup"]


async def test_attempts_are_numbered_over_all_rounds(with_tools: Engine) -> None:
    await with_tools.run(ScriptedProvider(asks("current_time"), says("ok")))
    numbers = await in_thread(
        lambda: list(Attempt.objects.values_list("number", "round"))
    )
    assert numbers == [(1, 1), (2, 2)]


async def test_seventeenth_call_of_a_round_is_not_run(with_tools: Engine) -> None:
    provider = ScriptedProvider(asks(*["current_time"] * 17), says("ok"))
    events = await with_tools.run(provider)
    failed = [event for kind, event in events if kind == "tool_call_failed"]
    assert [event["callId"] for event in failed] == ["call_16"]


async def test_text_beside_calls_is_not_shown(with_tools: Engine) -> None:
    provider = ScriptedProvider([TextPart("Wait"), *asks("current_time")], says("ok"))
    events = await with_tools.run(provider)
    assert all(kind != "message_delta" for kind, _ in events)
    assert events[-3][1]["text"] == "ok"


async def test_empty_answer_without_tools_is_a_failure(engine: Engine) -> None:
    provider = ScriptedProvider([STOP], says("ok"))
    events = await engine.run(provider)
    assert [config.name for config in provider.configs] == ["primary", "backup"]
    assert events[-3][1]["text"] == "ok"
