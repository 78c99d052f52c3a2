from __future__ import annotations

from decimal import Decimal

import pytest

from sessions_app.domain.parts import UsagePart
from sessions_app.domain.usage import (
    PriceRule,
    Usage,
    add_usage,
    cost_of,
    merge_usage,
    price_for,
    settle,
)

D = Decimal
PRICE = PriceRule("*", D("3.00"), D("15.00"), D("0.30"), D("3.75"))


# C61
@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(2000, 300, cached_tokens_in=1900, reasoning_tokens=120), "0.00537"),
        (Usage(2000, 300, cached_tokens_in=1900), "0.00537"),
        (Usage(2000, 300, cache_write_tokens_in=1900), "0.011925"),
        (Usage(32, 103, reasoning_tokens=94), "0.001641"),
        (Usage(21, 60, reasoning_tokens=60), "0.000963"),
    ],
)
def test_cost_is_exact(usage: Usage, cost: str) -> None:
    assert cost_of(usage, PRICE) == D(cost)


# C59
def test_model_without_price_costs_null() -> None:
    assert cost_of(Usage(10, 10), None) is None


def test_price_of_zero_costs_zero() -> None:
    assert cost_of(Usage(10, 10), PriceRule("*", D(0), D(0))) == D(0)


def test_one_token_of_a_cheap_model_is_not_rounded_away() -> None:
    assert cost_of(Usage(1, 0), PriceRule("*", D("0.0001"), D(0))) == D("1e-10")


def test_most_specific_glob_wins() -> None:
    rules = [PriceRule(glob, D(1), D(1)) for glob in ("*", "gpt-*", "gpt-4o-*")]
    assert price_for("gpt-4o-mini", rules) is rules[2]
    assert price_for("gpt-5", rules) is rules[1]
    assert price_for("claude", rules[1:]) is None


# Characters inside a class were counted one by one, so that a broad class won.
@pytest.mark.parametrize(
    ("model", "loser", "winner"),
    [
        ("gpt-4", "gpt-[0123456789]", "gpt-4*"),
        ("gpt-4-mini", "gpt-[345678]*", "gpt-4-*"),
        ("gpt-4", "gpt-[!a-z]", "gpt-4"),
        ("gpt-]", "gpt-[]abc]", "gpt-]*"),
        ("gpt-4", "gpt-*", "gpt-[45]"),
        ("gpt-[", "gpt-*", "gpt-["),
    ],
)
def test_class_in_a_glob_counts_as_one(model: str, loser: str, winner: str) -> None:
    rules = [PriceRule(glob, D(1), D(1)) for glob in (loser, winner)]
    assert price_for(model, rules) is rules[1]
    assert price_for(model, rules[::-1]) is rules[1]


# C60
def test_last_value_of_a_field_counts_within_a_call() -> None:
    first = UsagePart(tokens_in=25, tokens_out=1)
    merged = merge_usage(first, UsagePart(tokens_out=15))
    assert merged == UsagePart(tokens_in=25, tokens_out=15)


# C63 (1), (5)
@pytest.mark.parametrize("characters", [0, 200])
def test_missing_counts_are_estimated(characters: int) -> None:
    usage = settle(
        UsagePart(),
        prompt_characters=0,
        reply_characters=characters,
        is_complete=characters > 0,
        price=None,
    )
    assert (usage.tokens_in, usage.tokens_out) == (1, characters // 4)
    assert usage.is_estimated


# Each was held to the input alone, so together they were billed for more than it.
@pytest.mark.parametrize(
    ("cached", "written", "kept", "cost"),
    [
        (80, 80, (80, 20), "0.000099"),  # 80 at 0.30 and 20 at 3.75
        (150, 10, (100, 0), "0.00003"),
        (0, 150, (0, 100), "0.000375"),
        (30, 20, (30, 20), "0.000234"),  # and 50 at 3.00
    ],
)
def test_cached_and_written_fit_into_the_input(
    cached: int, written: int, kept: tuple[int, int], cost: str
) -> None:
    usage = settle(
        UsagePart(100, 0, cached, written),
        prompt_characters=0,
        reply_characters=0,
        is_complete=True,
        price=PRICE,
    )
    assert (usage.cached_tokens_in, usage.cache_write_tokens_in) == kept
    assert usage.cost_usd == D(cost)


# C63 (2)
def test_explicit_zero_stays_zero() -> None:
    usage = settle(
        UsagePart(tokens_in=0, tokens_out=0),
        prompt_characters=400,
        reply_characters=400,
        is_complete=True,
        price=PRICE,
    )
    assert (usage.tokens_in, usage.tokens_out, usage.is_estimated) == (0, 0, False)


# C63 (4): the count of the start is a placeholder
def test_running_count_of_a_cut_reply_is_an_estimate() -> None:
    usage = settle(
        UsagePart(tokens_in=25, tokens_out=1),
        prompt_characters=0,
        reply_characters=200,
        is_complete=False,
        price=None,
    )
    assert (usage.tokens_in, usage.tokens_out, usage.is_estimated) == (25, 50, True)


def test_rounds_of_a_turn_add_up() -> None:
    total = add_usage([Usage(1, 2, cost_usd=D("0.1")), Usage(3, 4, cost_usd=D("0.2"))])
    assert (total.tokens_in, total.tokens_out, total.cost_usd) == (4, 6, D("0.3"))


def test_call_without_price_makes_the_sum_null() -> None:
    assert add_usage([Usage(1, 2, cost_usd=D(1)), Usage(3, 4)]).cost_usd is None
