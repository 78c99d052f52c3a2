from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.context import UNKNOWN_WINDOW
from sessions_app.domain.errors import ProviderOverloaded, ProviderRefused
from sessions_app.domain.parts import Part, TextPart, ToolCallReady
from sessions_app.domain.prompt import ToolSpec
from sessions_app.engine.sweeper import sweep
from sessions_app.models import Message, Provider, Session, ToolCall, Turn
from sessions_app.store.db import in_thread
from tests.engine.conftest import CALLER, Engine
from tests.fakes.scripted_provider import STOP, ScriptedProvider, Step, says
from tests.fakes.strict_history import check_history


def asks(*ids: str) -> list[Part]:
    return [*(ToolCallReady(each, "current_time") for each in ids), STOP]


@pytest.fixture
async def with_tools(engine: Engine) -> AsyncIterator[Engine]:
    engine.agent.tools = ["current_time"]
    await in_thread(engine.agent.save)
    yield engine


async def hello(engine: Engine) -> list[tuple[str, str]]:
    """Say hello and be answered; what the provider was told."""
    provider = ScriptedProvider(says("Hi"))
    events = await engine.run(provider, "hello")
    assert events[-3][1]["text"] == "Hi"
    check_history(provider.requests[-1].messages)
    return [(m.role, m.content) for m in provider.requests[-1].messages]


async def cancelled(engine: Engine, kind: str, *scripts: list[Step]) -> None:
    """A turn that is cancelled once it has shown an event."""
    host = await engine.host(ScriptedProvider(*scripts))
    posted = await engine.post("first")
    host.begin(posted.turn_id)
    await engine.until(kind)
    host.cancel(posted.turn_id)
    await engine.events(posted)


# C37 (1) and (2): a call is left without its result
async def test_turn_cut_between_rounds_poisons_nothing(with_tools: Engine) -> None:
    await cancelled(
        with_tools, "tool_call_completed", asks("a", "b"), [asyncio.Event()]
    )
    await in_thread(
        lambda: ToolCall.objects.filter(position=1).update(status="started")
    )
    assert await hello(with_tools) == [("user", "first\n\nhello")]


# C37 (3)
async def test_turn_cut_before_any_text_poisons_nothing(engine: Engine) -> None:
    await cancelled(engine, "turn_started", [asyncio.Event()])
    assert await hello(engine) == [("user", "first\n\nhello")]


async def test_turn_cut_in_its_text_keeps_what_was_said(engine: Engine) -> None:
    await cancelled(engine, "message_delta", [TextPart("Hel"), asyncio.Event()])
    assert (await hello(engine))[1] == ("assistant", "Hel")


# C37 (4)
async def test_reply_of_calls_alone_poisons_nothing(with_tools: Engine) -> None:
    await with_tools.run(ScriptedProvider(asks("a")), "first")  # ends in words
    roles = [role for role, _ in await hello(with_tools)]
    assert roles == ["user", *["assistant", "tool"] * 5, "assistant", "user"]


@pytest.mark.parametrize("error", [ProviderOverloaded(), ProviderRefused()])
async def test_failed_turn_poisons_nothing(engine: Engine, error: Exception) -> None:
    await engine.run(ScriptedProvider([error]), "first")
    assert await hello(engine) == [("user", "first\n\nhello")]


async def test_turn_that_broke_off_is_void(engine: Engine) -> None:
    await engine.run(ScriptedProvider([TextPart("Hel"), ProviderOverloaded()]), "first")
    assert await hello(engine) == [("user", "first\n\nhello")]


async def test_killed_turn_poisons_nothing(with_tools: Engine) -> None:
    host = await with_tools.host(ScriptedProvider(asks("a"), [asyncio.Event()]))
    posted = await with_tools.post("first")
    host.begin(posted.turn_id)
    await with_tools.until("tool_call_completed")
    update = Turn.objects.filter(pk=posted.turn_id).update
    await in_thread(update, worker="dead", fence=9)
    await sweep(get_bus(), "alive")
    assert await hello(with_tools) == [("user", "first\n\nhello")]


# C37 (2): a wait that is cancelled after one of the two calls was run
async def test_cancelled_wait_poisons_nothing(with_tools: Engine) -> None:
    mixed = [ToolCallReady("a", "current_time"), ToolCallReady("b", "page"), STOP]
    host = await with_tools.host(ScriptedProvider(mixed))
    page = ToolSpec("page", "", {"type": "object", "properties": {}})
    posted = await with_tools.post("first", client_tools=(page,))
    host.begin(posted.turn_id)
    await with_tools.until("turn_awaiting_tools")
    await in_thread(service.cancel_turn, CALLER, with_tools.session.pk, posted.turn_id)
    host.begin(posted.turn_id)
    await with_tools.events(posted)
    assert await hello(with_tools) == [("user", "first\n\nhello")]


async def test_results_of_earlier_turns_are_told_again(with_tools: Engine) -> None:
    await with_tools.run(ScriptedProvider(asks("a", "b"), says("Noon")), "first")
    told = await hello(with_tools)
    assert [role for role, _ in told] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "user",
    ]
    assert told[2][1].endswith("UTC")


async def test_twenty_turns_with_tools_stay_valid(with_tools: Engine) -> None:
    for _ in range(20):
        provider = ScriptedProvider(asks("same", "ids"), says("ok"))
        await with_tools.run(provider)
        for request in provider.requests[:1]:
            check_history(request.messages)
    assert len(await hello(with_tools)) == 20 * 5 + 1


async def test_history_keeps_within_the_window(engine: Engine) -> None:
    await in_thread(lambda: Provider.objects.update(context_tokens=600))
    for number in range(8):
        await engine.run(ScriptedProvider(says("a" * 300)), f"{number}" + "q" * 299)
    told = await hello(engine)
    assert (told[0][0], told[-1]) == ("user", ("user", "hello"))
    assert sum(len(text) / 3 for _, text in told) < 600
    assert told[0][1].startswith("7")


# C70 (4): nothing is set here, so the window is that of a model nobody knows.
async def test_history_of_a_thousand_turns_is_trimmed(engine: Engine) -> None:
    def talk() -> None:
        session = engine.session
        turns = [
            Turn(session=session, ordinal=ordinal, state="completed")
            for ordinal in range(1, 1001)
        ]
        Turn.objects.bulk_create(turns)
        Message.objects.bulk_create(
            Message(
                session=session,
                turn=turn,
                ordinal=turn.ordinal,
                position=position,
                role=role,
                content=f"{turn.ordinal}" + "x" * 3000,
            )
            for turn in turns
            for position, role in enumerate(("user", "assistant"))
        )
        Session.objects.filter(pk=session.pk).update(last_ordinal=1000)

    await in_thread(talk)
    told = await hello(engine)
    assert 4 <= len(told) < 80
    assert told[-2][1].startswith("1000x")
    assert sum(len(text) / 3 for _, text in told) < UNKNOWN_WINDOW


async def test_agent_may_be_told_less_than_fits(engine: Engine) -> None:
    engine.agent.context_tokens = 256
    await in_thread(engine.agent.save)
    await engine.run(ScriptedProvider(says("a" * 300)), "q" * 300)
    assert await hello(engine) == [("user", "hello")]


async def test_next_candidate_gets_what_fits_into_its_own_window(
    engine: Engine,
) -> None:
    small = Provider.objects.filter(name="primary")
    await in_thread(small.update, context_tokens=256)
    await engine.run(ScriptedProvider(says("a" * 300)), "q" * 300)
    provider = ScriptedProvider([ProviderOverloaded()], says("Hi"))
    await engine.run(provider)
    assert [len(request.messages) for request in provider.requests] == [1, 3]
