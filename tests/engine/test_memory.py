from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sessions_app.domain.errors import ProviderOverloaded
from sessions_app.domain.parts import TextPart, UsagePart
from sessions_app.models import Attempt, Provider, Session, Turn
from sessions_app.store.db import in_thread
from tests.engine.budgeting import give_budget, reserved, spent_tokens
from tests.engine.conftest import Engine
from tests.fakes.scripted_provider import STOP, ScriptedProvider, Step, says
from tests.fakes.strict_history import check_history

SUMMARY: list[Step] = [TextPart("They sell boats."), UsagePart(200, 6), STOP]


@pytest.fixture
async def long_session(engine: Engine) -> AsyncIterator[Engine]:
    """Four turns that fill the window, of an agent with a memory."""
    engine.agent.memory, engine.agent.system_prompt = True, "Be kind."
    await in_thread(engine.agent.save)
    await in_thread(lambda: Provider.objects.update(context_tokens=1200))
    for number in range(4):
        await engine.run(ScriptedProvider(says("a" * 300)), f"{number}" + "q" * 299)
    assert await in_thread(Attempt.objects.filter(round=0).count) == 0
    yield engine


async def test_what_does_not_fit_is_summarised(long_session: Engine) -> None:
    provider = ScriptedProvider(SUMMARY, says("Hi"))
    events = await long_session.run(provider)
    assert events[-3][1]["text"] == "Hi"
    asked, answered = provider.requests
    assert "0qqq" in asked.messages[1].content
    assert not asked.is_streaming
    system, question, *_ = answered.messages
    assert system.content == "Be kind."
    assert question.content.startswith(
        "[Earlier in this conversation: They sell boats.]"
    )
    check_history(answered.messages)


async def test_summary_is_billed_to_its_turn(long_session: Engine) -> None:
    await long_session.run(ScriptedProvider(SUMMARY, says("Hi")))
    turn = await in_thread(Turn.objects.get, ordinal=5)
    memory, reply = await in_thread(lambda: list(turn.attempts.order_by("number")))
    assert (memory.round, memory.tokens_in, memory.tokens_out) == (0, 200, 6)
    assert turn.tokens_in == 200 + reply.tokens_in


async def test_summary_is_paid_from_the_budget(long_session: Engine) -> None:
    await give_budget(tokens=100_000)
    reply = [TextPart("Hi"), UsagePart(100, 1), STOP]
    await long_session.run(ScriptedProvider(SUMMARY, reply))
    assert (await spent_tokens(), await reserved()) == ([307], [])


async def test_next_turn_goes_on_from_the_summary(long_session: Engine) -> None:
    await long_session.run(ScriptedProvider(SUMMARY, says("Hi")))
    provider = ScriptedProvider(says("ok"))
    await long_session.run(provider, "and now?")
    (request,) = provider.requests
    told = [m.content for m in request.messages]
    assert sum("They sell boats." in text for text in told) == 1
    assert not any("0qqq" in text for text in told)


async def test_turn_goes_on_if_the_summary_fails(long_session: Engine) -> None:
    provider = ScriptedProvider(
        [ProviderOverloaded()], [ProviderOverloaded()], says("Hi")
    )
    events = await long_session.run(provider)
    assert events[-3][1]["text"] == "Hi"
    session = await in_thread(Session.objects.get, pk=long_session.session.pk)
    assert (session.summary, session.summary_to) == ("", 0)


async def test_agent_without_a_memory_makes_no_call(long_session: Engine) -> None:
    long_session.agent.memory = False
    await in_thread(long_session.agent.save)
    provider = ScriptedProvider(says("Hi"))
    await long_session.run(provider)
    assert len(provider.requests) == 1
