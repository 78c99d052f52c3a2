from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from sessions_app.bus import get_bus
from sessions_app.domain.errors import (
    BudgetExceeded,
    ProviderOverloaded,
    ProviderRefused,
)
from sessions_app.domain.parts import ReasoningPart, TextPart, ToolCallReady, UsagePart
from sessions_app.engine.sweeper import sweep
from sessions_app.models import Attempt, BudgetLedger, Message, Price, Turn
from sessions_app.store import budgets, turns
from sessions_app.store import claim as claim_store
from sessions_app.store.db import in_thread
from tests.engine.budgeting import give_budget, reserved, spent_tokens, spent_usd
from tests.engine.conftest import Engine
from tests.engine.upstreams import end
from tests.fakes.scripted_provider import STOP, ScriptedProvider, Step


def costs(tokens_in: int, tokens_out: int) -> list[Step]:
    """A reply with its bill; the test prices are 1 and 2 USD a million."""
    return [TextPart("Hi"), UsagePart(tokens_in, tokens_out), STOP]


async def test_turn_is_settled_at_what_it_cost(engine: Engine) -> None:
    await give_budget(usd="1", tokens=100_000)
    await engine.run(ScriptedProvider(costs(2000, 300)))
    assert await spent_usd() == [Decimal("0.0026")]
    assert (await spent_tokens(), await reserved()) == ([2300], [])


async def test_worst_case_is_set_aside_while_the_turn_waits(engine: Engine) -> None:
    await give_budget(tokens=100_000)
    await engine.post("hello")
    (amount,) = await reserved()
    assert 4096 < amount < 4200  # the longest reply, and a short prompt


async def test_used_up_budget_refuses_and_leaves_no_trace(engine: Engine) -> None:
    await give_budget("session", "day", usd="0.01")
    await engine.run(ScriptedProvider(costs(1000, 4500)))
    with pytest.raises(BudgetExceeded) as refusal:
        await engine.post("again")
    details = refusal.value.details
    assert (details["budget"], details["period"]) == ("session", "day")
    assert (details["limitUsd"], details["spentUsd"]) == (0.01, 0.01)
    assert details["renewsAt"].endswith("T00:00:00Z")
    assert await in_thread(Turn.objects.count) == 1
    assert await in_thread(Message.objects.filter(content="again").count) == 0


# A turn of the day before was told the end of the day after.
@pytest.mark.parametrize(
    ("period", "name", "renewal"),
    [("day", "2028-02-28", "2028-02-29"), ("month", "2027-12", "2028-01-01")],
)
async def test_refusal_names_the_end_of_the_period_that_it_counts(
    engine: Engine, period: str, name: str, renewal: str
) -> None:
    await give_budget("session", period, tokens=10_000)
    posted = await engine.post()
    await in_thread(BudgetLedger.objects.update, period=name)
    allowances = await in_thread(budgets.allowances_of, posted.turn_id)
    with pytest.raises(BudgetExceeded) as refusal:
        await in_thread(budgets.extend, posted.turn_id, [(allowances[0], 10_001)])
    assert refusal.value.details["renewsAt"] == f"{renewal}T00:00:00Z"


# C59: falsy does not mean "no budget"
@pytest.mark.parametrize("limit", [{"usd": "0"}, {"tokens": 0}])
async def test_budget_of_nothing_blocks(engine: Engine, limit: dict[str, str]) -> None:
    await give_budget(**limit)
    await in_thread(lambda: Price.objects.update(input=0, output=0))
    with pytest.raises(BudgetExceeded):
        await engine.post()


# C59: a price of 0 is a price
async def test_model_that_costs_nothing_spends_nothing(engine: Engine) -> None:
    await give_budget(usd="0.000001")
    await in_thread(lambda: Price.objects.update(input=0, output=0))
    await engine.run(ScriptedProvider(costs(2000, 300)))
    assert await spent_usd() == [Decimal(0)]


# C59: unknown is not free
async def test_model_without_a_price_is_refused(engine: Engine) -> None:
    await give_budget(usd="1")
    await in_thread(lambda: Price.objects.all().delete())
    with pytest.raises(BudgetExceeded, match="no price"):
        await engine.post()


async def test_model_without_a_price_is_passed_over(engine: Engine) -> None:
    await give_budget(usd="1")
    cheap = Price.objects.filter(provider__name="primary")
    await in_thread(cheap.delete)
    provider = ScriptedProvider(costs(10, 1))
    await engine.run(provider)
    assert [config.name for config in provider.configs] == ["backup"]


async def test_fallback_prices_what_has_no_price(engine: Engine) -> None:
    await give_budget(usd="1", fallback_input="3", fallback_output="15")
    await in_thread(lambda: Price.objects.all().delete())
    events = await engine.run(ScriptedProvider(costs(1000, 100)))
    assert await spent_usd() == [Decimal("0.0045")]
    assert events[-3][1]["usage"]["costUsd"] is None


async def test_tokens_need_no_price(engine: Engine) -> None:
    await give_budget(tokens=10_000)
    await in_thread(lambda: Price.objects.all().delete())
    await engine.run(ScriptedProvider(costs(10, 1)))
    assert await spent_tokens() == [11]


async def test_reply_is_no_longer_than_what_is_set_aside(engine: Engine) -> None:
    await give_budget(tokens=100_000)
    provider = ScriptedProvider(costs(10, 1))
    await engine.run(provider)
    assert provider.requests[0].max_output_tokens == 4096


# C65: of ten that fit once, one is let in
async def test_ten_at_once_pass_the_check_once(engine: Engine) -> None:
    await give_budget("agent:helper", tokens=10_000)
    await engine.run(ScriptedProvider(costs(4000, 500)))
    results = await asyncio.gather(
        *(engine.post(f"n{i}") for i in range(10)), return_exceptions=True
    )
    refused = [each for each in results if isinstance(each, BudgetExceeded)]
    assert len(refused) == 9


# C65: one that fails before the provider does anything
async def test_refused_call_frees_its_reservation(engine: Engine) -> None:
    await give_budget(tokens=10_000)
    await engine.run(ScriptedProvider([ProviderRefused(status=400)]))
    assert (await reserved(), await spent_tokens()) == ([], [0])


# C65: one that crashes after reserving
async def test_left_turn_frees_its_reservation(engine: Engine) -> None:
    await give_budget(tokens=10_000)
    posted = await engine.post()
    await in_thread(claim_store.claim, posted.turn_id, "dead")
    past = timezone.now() - timedelta(minutes=1)
    update = Turn.objects.filter(pk=posted.turn_id).update
    await in_thread(
        update, lease_until=past, has_deltas=True, answering="primary/gpt-x"
    )
    await sweep(get_bus(), None)
    assert await reserved() == []
    assert (await spent_tokens())[0] > 0


async def test_deleted_turn_frees_its_reservation(engine: Engine) -> None:
    await give_budget("agent:helper", tokens=10_000)
    await engine.post()
    await in_thread(engine.session.delete)
    assert await reserved() == []


async def test_cancelled_turn_pays_for_what_came(engine: Engine) -> None:
    await give_budget(tokens=10_000)
    host = await engine.host(ScriptedProvider([TextPart("x" * 200), asyncio.Event()]))
    posted = await engine.post()
    host.begin(posted.turn_id)
    await engine.until("message_delta")
    host.cancel(posted.turn_id)
    await engine.events(posted)
    assert 50 < (await spent_tokens())[0] < 100
    assert await reserved() == []


async def test_failed_attempt_that_used_tokens_is_paid_for(engine: Engine) -> None:
    await give_budget(tokens=20_000)
    wasted = [ReasoningPart("x" * 400), ProviderOverloaded()]
    await engine.run(ScriptedProvider(wasted, costs(10, 1)))
    total = sum(
        await in_thread(
            lambda: [a.tokens_in + a.tokens_out for a in Attempt.objects.all()]
        )
    )
    assert total > 111
    assert await spent_tokens() == [total]


async def test_round_that_goes_beyond_the_budget_ends_the_turn(engine: Engine) -> None:
    engine.agent.tools, engine.agent.max_output_tokens = ["current_time"], 100
    await in_thread(engine.agent.save)
    await give_budget(tokens=1000)
    asks = [ToolCallReady("call_1", "current_time"), UsagePart(400, 100), STOP]
    provider = ScriptedProvider(asks)
    events = await engine.run(provider)
    assert end(events) == ("turn_failed", "budget_exceeded")
    assert await spent_tokens() == [500 * len(provider.requests)]
    assert (await spent_tokens())[0] <= 1000


async def test_longer_rounds_are_set_aside_as_they_come(engine: Engine) -> None:
    engine.agent.tools, engine.agent.max_output_tokens = ["current_time"], 100
    await in_thread(engine.agent.save)
    await give_budget(tokens=100_000)
    asks = [ToolCallReady("call_1", "current_time"), UsagePart(400, 100), STOP]
    await engine.run(ScriptedProvider(asks, asks, costs(600, 50)))
    assert (await spent_tokens(), await reserved()) == ([1650], [])


async def test_each_session_has_its_own_ledger(engine: Engine) -> None:
    await give_budget("session", tokens=10_000)
    await give_budget("agent:helper", tokens=100_000)
    await give_budget("agent:other", tokens=0)
    await engine.run(ScriptedProvider(costs(10, 1)))
    assert await spent_tokens() == [11, 11]


async def test_turn_that_was_put_back_keeps_its_reservation(engine: Engine) -> None:
    await give_budget(tokens=10_000)
    posted = await engine.post()
    work = await in_thread(claim_store.claim, posted.turn_id, "dead")
    assert work is not None
    await in_thread(turns.release, posted.turn_id, work.fence)
    assert len(await reserved()) == 1
    host = await engine.host(ScriptedProvider(costs(10, 1)))
    host.begin(posted.turn_id)
    await engine.events(posted)
    assert (await reserved(), await spent_tokens()) == ([], [11])
