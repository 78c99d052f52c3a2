from __future__ import annotations

from decimal import Decimal

from sessions_app.domain.errors import ProviderOverloaded, ProviderRefused
from sessions_app.domain.parts import TextPart, UsagePart
from sessions_app.models import Attempt, Message, Turn
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine, Event
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says


def kinds(events: list[Event]) -> list[str]:
    return [kind for kind, _ in events]


async def test_events_of_a_turn_come_in_order(engine: Engine) -> None:
    events = await engine.run(ScriptedProvider(says("Hel", "lo")))
    assert kinds(events) == [
        "session.status_running",
        "turn_started",
        "message_delta",
        "message_delta",
        "message_completed",
        "agent.message",
        "session.status_idle",
    ]
    assert [e["seq"] for kind, e in events if kind == "message_delta"] == [1, 2]


async def test_deltas_joined_equal_completed_and_stored_text(engine: Engine) -> None:
    events = await engine.run(ScriptedProvider(says("Grüße", " an 好", "🙂")))
    joined = "".join(e["delta"] for kind, e in events if kind == "message_delta")
    stored = await in_thread(Message.objects.get, role="assistant")
    assert joined == events[-3][1]["text"] == stored.content == "Grüße an 好🙂"


async def test_usage_and_cost_are_booked_exactly(engine: Engine) -> None:
    usage = UsagePart(tokens_in=2000, tokens_out=300)
    events = await engine.run(ScriptedProvider([TextPart("Hi"), usage, STOP]))
    assert events[-3][1]["usage"] == {
        "tokensIn": 2000,
        "tokensOut": 300,
        "costUsd": 0.0026,
        "cachedTokensIn": 0,
        "reasoningTokens": 0,
        "estimated": False,
    }
    attempt = await in_thread(Attempt.objects.get)
    assert (attempt.status, attempt.cost_usd) == ("completed", Decimal("0.0026"))


async def test_error_before_first_delta_fails_over(engine: Engine) -> None:
    provider = ScriptedProvider([ProviderOverloaded()], says("Hi"))
    events = await engine.run(provider)
    assert [config.name for config in provider.configs] == ["primary", "backup"]
    assert events[-3][1]["text"] == "Hi"
    assert [e["seq"] for kind, e in events if kind == "message_delta"] == [1]


async def test_failover_skipped_after_first_delta(engine: Engine) -> None:
    provider = ScriptedProvider([TextPart("Hel"), ProviderOverloaded()], says("no"))
    events = await engine.run(provider)
    assert len(provider.requests) == 1
    assert kinds(events)[-3:] == [
        "message_delta",
        "message_error",
        "session.status_idle",
    ]
    assert events[-2][1]["code"] == "provider_overloaded"
    assert not await in_thread(Message.objects.filter(role="assistant").exists)


async def test_refused_request_does_not_fail_over(engine: Engine) -> None:
    provider = ScriptedProvider([ProviderRefused()], says("no"))
    events = await engine.run(provider)
    assert len(provider.requests) == 1
    assert events[-3][0] == "turn_failed"
    assert events[-3][1]["retryable"] is False


async def test_exhausted_chain_ends_with_canned_reply(engine: Engine) -> None:
    events = await engine.run(ScriptedProvider([ProviderOverloaded()]))
    assert kinds(events)[2:] == ["turn_failed", "agent.message", "session.status_idle"]
    assert events[-2][1]["text"] == "Give me a second, please."


async def test_idempotency_key_differs_by_provider(engine: Engine) -> None:
    provider = ScriptedProvider([ProviderOverloaded()], says("Hi"))
    await engine.run(provider)
    first, second = (request.idempotency_key for request in provider.requests)
    assert first != second


async def test_completed_turn_is_committed_before_it_is_announced(
    engine: Engine,
) -> None:
    provider = ScriptedProvider(says("Hi"))
    host = await engine.host(provider)
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_completed")
    turn = await in_thread(Turn.objects.get, pk=posted.turn_id)
    assert turn.state == "completed"
