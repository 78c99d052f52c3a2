from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from sessions_app.domain.budget import (
    PICO,
    Limit,
    Period,
    Unit,
    period_name,
    renews_at,
    tokens_at_most,
)
from sessions_app.domain.prompt import PromptMessage, ToolSpec
from sessions_app.domain.usage import PriceRule, Usage

NEW_YEARS_EVE = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
PRICE = PriceRule("*", Decimal("3"), Decimal("15"), cache_write=Decimal("3.75"))


def limit(unit: Unit = Unit.USD, fallback: PriceRule | None = None) -> Limit:
    return Limit(1, "session", Period.DAY, unit, PICO, fallback)


def test_call_may_cost_its_dearest_prices() -> None:
    assert limit().needed(1000, 100, PRICE) == int(Decimal("0.00525") * PICO)


def test_tokens_count_without_a_price() -> None:
    assert limit(Unit.TOKENS).needed(1000, 100, None) == 1100
    assert limit(Unit.TOKENS).used(Usage(7, 2)) == 9


def test_attempt_without_a_price_costs_the_fallback() -> None:
    usage = Usage(1000, 100, cost_usd=None)
    assert limit(fallback=PRICE).used(usage) == int(Decimal("0.0045") * PICO)
    assert limit().used(Usage(1000, 100, cost_usd=Decimal("1e-12"))) == 1


def test_only_a_price_makes_a_call_countable() -> None:
    assert not limit().can_count(None)
    assert limit(fallback=PRICE).can_count(None)
    assert limit(Unit.TOKENS).can_count(None)


@pytest.mark.parametrize(
    ("period", "name", "renewal"),
    [
        (Period.DAY, "2026-12-31", datetime(2027, 1, 1, tzinfo=UTC)),
        (Period.MONTH, "2026-12", datetime(2027, 1, 1, tzinfo=UTC)),
        (Period.TOTAL, "", None),
    ],
)
def test_period_has_a_name_and_a_renewal(
    period: Period, name: str, renewal: datetime | None
) -> None:
    assert period_name(period, NEW_YEARS_EVE) == name
    assert renews_at(period, name) == renewal


@pytest.mark.parametrize("text", ["好" * 300, "word " * 60, "🙂" * 75, "x" * 300])
def test_estimate_is_not_below_a_token_per_three_bytes(text: str) -> None:
    assert tokens_at_most([PromptMessage("user", text)]) >= len(text.encode()) / 3


def test_tools_count_with_their_schemas() -> None:
    schema = {"type": "object", "properties": {"city": {"description": "x" * 300}}}
    tool = ToolSpec("weather", "Weather of a city", schema)
    assert tokens_at_most([], [tool]) > 100
