"""What is billed by the prices that Lantern brings along, and what is not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sessions_app.domain.errors import BudgetExceeded
from sessions_app.models import BudgetLedger
from sessions_app.store.db import in_thread
from tests.engine.bills import attempts, billed, completion, message, shop
from tests.engine.budgeting import give_budget, spent_usd
from tests.engine.conftest import Engine
from tests.fakes.fake_upstream import Reply
from tests.fakes.openai_events import DONE, event, finish, usage

D = Decimal
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"
MINI = {"base_url": OPENAI, "model": "gpt-4.1-mini"}


# A model that nobody priced was free, so no budget ever ended.
async def test_unpriced_model_costs_null(engine: Engine) -> None:
    async with shop(engine, base_url=OPENAI, model="gpt-unheard-of") as place:
        place.upstream.enqueue(completion(100, 10))
        assert billed(await place.run()) == (100, 10, None, False)
    (attempt,) = await attempts()
    assert (attempt.cost_usd, attempt.price) == (None, None)


async def test_first_bill_needs_no_typed_price(engine: Engine) -> None:
    async with shop(engine, **MINI) as place:
        details = {"prompt_tokens_details": {"cached_tokens": 1900}}
        place.upstream.enqueue(completion(2000, 300, **details))
        assert billed(await place.run()) == (2000, 300, 0.00071, False)
    (attempt,) = await attempts()
    assert attempt.price == {
        "model": "gpt-4.1-mini",
        "input": "0.4",
        "output": "1.6",
        "cachedInput": "0.1",
        "origin": "shipped 2026-12-02",
    }


async def test_dated_alias_is_billed_as_its_model(engine: Engine) -> None:
    model = "claude-haiku-4-5-20251001"
    async with shop(engine, "anthropic", base_url=ANTHROPIC, model=model) as place:
        start = {"input_tokens": 100, "cache_creation_input_tokens": 1900}
        place.upstream.enqueue(Reply(message(start, {"output_tokens": 300})))
        assert billed(await place.run()) == (2000, 300, 0.003975, False)


async def test_long_prompt_is_billed_at_its_own_price(engine: Engine) -> None:
    model = "claude-haiku-5-5"
    async with shop(engine, "anthropic", base_url=ANTHROPIC, model=model) as place:
        place.upstream.enqueue(
            Reply(message({"input_tokens": 100_001}, {"output_tokens": 1000}))
        )
        assert (await place.run())["costUsd"] == 0.0525005
    (attempt,) = await attempts()
    assert attempt.price["input"] == "0.5"
    assert attempt.price["origin"] == "shipped 2026-12-02, prompt over 100000 tokens"


# A gateway answers under the name of what it really asked.
async def test_model_is_billed_as_it_was_asked_for(engine: Engine) -> None:
    async with shop(engine, **MINI) as place:
        chunk = {"model": "gpt-6-astra", "choices": [{"delta": {"content": "fine"}}]}
        place.upstream.enqueue(Reply([event(chunk), finish(), usage(1000, 100), DONE]))
        assert (await place.run())["costUsd"] == 0.00056


# A local server may call its models what it likes.
async def test_local_model_of_a_famous_name_is_not_priced(engine: Engine) -> None:
    async with shop(engine, model="gpt-4.1-mini") as place:
        place.upstream.enqueue(completion(100, 10))
        assert (await place.run())["costUsd"] is None


async def test_model_that_is_priced_nothing_costs_nothing(engine: Engine) -> None:
    nothing = {"input": D(0), "output": D(0)}
    async with shop(engine, price=nothing, **MINI) as place:
        place.upstream.enqueue(completion(100, 10))
        assert billed(await place.run()) == (100, 10, 0, False)


async def test_budget_ends_without_a_typed_price(engine: Engine) -> None:
    engine.agent.max_output_tokens = 100
    await give_budget(usd="0.01")
    accepted = refused = 0
    async with shop(engine, **MINI) as place:
        place.upstream.enqueue(completion(1000, 100))
        for number in range(100):
            try:
                await place.run(f"n{number}")
                accepted += 1
            except BudgetExceeded:
                refused += 1
    # Each cost 0.00056: the last one that still found room went over by that at most.
    assert (accepted, refused) == (18, 82)
    assert await spent_usd() == [D("0.01008")]


async def test_budget_refuses_what_nobody_priced(engine: Engine) -> None:
    await give_budget(usd="1")
    async with shop(engine, base_url=OPENAI, model="gpt-unheard-of") as place:
        with pytest.raises(BudgetExceeded, match="no price"):
            await place.run()
        assert place.upstream.requests == []
    assert await in_thread(BudgetLedger.objects.exclude(spent=0).count) == 0
