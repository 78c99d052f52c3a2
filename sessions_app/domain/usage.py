"""Tokens and money of one provider call, and their sum over a turn."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase

from sessions_app.domain.events import UsageSummary
from sessions_app.domain.parts import UsagePart

MILLION = Decimal(1_000_000)
COST_STEP = Decimal("1e-12")
CHARACTERS_PER_TOKEN = 4
# As fnmatch reads it: a "]" that comes first is one of the class.
_CLASS = re.compile(r"\[!?\]?[^\]]*\]")
LARGEST_COUNT = 50_000_000
"""Far beyond any model's window, and the sum over a turn still fits its column."""


@dataclass(frozen=True, slots=True)
class PriceRule:
    """USD per million tokens; ``model`` is a glob, the most specific one wins.

    A None for cached or written tokens means that they cost the plain input price.
    ``origin`` says where the price is from. Some models cost more throughout when
    they are told much: ``long``.
    """

    model: str
    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    origin: str = "configured"
    long: LongPrompt | None = None

    def for_prompt(self, tokens_in: int) -> PriceRule:
        """The rule that a call with a prompt of that many tokens is charged at."""
        if self.long is None or tokens_in <= self.long.over:
            return self
        return replace(self.long.rule, model=self.model)

    def as_object(self) -> dict[str, str]:
        """The form in which a receipt keeps it, decimals as they were written."""
        amounts = {
            "input": self.input,
            "output": self.output,
            "cachedInput": self.cached_input,
            "cacheWrite": self.cache_write,
        }
        known = {k: f"{v.normalize():f}" for k, v in amounts.items() if v is not None}
        return {"model": self.model, **known, "origin": self.origin}


@dataclass(frozen=True, slots=True)
class LongPrompt:
    """What the whole call costs if its prompt has more than ``over`` tokens."""

    over: int
    rule: PriceRule


@dataclass(frozen=True, slots=True)
class Usage:
    """Whole sums: cached and reasoning tokens are part of in and out."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached_tokens_in: int = 0
    cache_write_tokens_in: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal | None = None
    is_estimated: bool = False

    def summary(self) -> UsageSummary:
        """The form that clients see."""
        return UsageSummary(
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            cost_usd=self.cost_usd,
            cached_tokens_in=self.cached_tokens_in,
            reasoning_tokens=self.reasoning_tokens,
            estimated=self.is_estimated,
        )


def merge_usage(earlier: UsagePart, later: UsagePart) -> UsagePart:
    """Within one call the last value of each field counts.

    One of more than LARGEST_COUNT is no count, and was not reported.
    """
    changes = {
        name: value
        for name in UsagePart.__slots__
        if (value := getattr(later, name)) is not None and value <= LARGEST_COUNT
    }
    return replace(earlier, **changes)


def settle(
    reported: UsagePart,
    *,
    prompt_characters: int,
    reply_characters: int,
    is_complete: bool,
    price: PriceRule | None,
) -> Usage:
    """The usage of one call: what was reported, else an estimate, and its price.

    An explicit zero is kept. Of a call that was cut short the output count is an
    estimate even if a running count was reported, as that may be a placeholder.
    """
    tokens_in = reported.tokens_in
    tokens_out = reported.tokens_out if is_complete else None
    is_estimated = tokens_in is None or tokens_out is None
    if tokens_in is None:
        tokens_in = max(1, estimate_tokens(prompt_characters))
    if tokens_out is None:
        tokens_out = max(estimate_tokens(reply_characters), reported.tokens_out or 0)
    # Both are part of the input: together they cannot be more than it.
    cached = min(tokens_in, reported.cached_tokens_in or 0)
    usage = Usage(
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cached_tokens_in=cached,
        cache_write_tokens_in=min(
            tokens_in - cached, reported.cache_write_tokens_in or 0
        ),
        reasoning_tokens=reported.reasoning_tokens or 0,
        is_estimated=is_estimated,
    )
    return replace(usage, cost_usd=cost_of(usage, price))


def estimate_tokens(characters: int) -> int:
    """A rough count where the provider gave none."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN)


def cost_of(usage: Usage, price: PriceRule | None) -> Decimal | None:
    """USD in steps of 1e-12, as it is stored; None for a model without a price."""
    if price is None:
        return None
    price = price.for_prompt(usage.tokens_in)
    cached_price = price.input if price.cached_input is None else price.cached_input
    write_price = price.input if price.cache_write is None else price.cache_write
    cached, written = usage.cached_tokens_in, usage.cache_write_tokens_in
    plain = max(0, usage.tokens_in - cached - written)
    total = (
        plain * price.input
        + cached * cached_price
        + written * write_price
        + usage.tokens_out * price.output
    ) / MILLION
    return total.quantize(COST_STEP).normalize() if total else Decimal(0)


def add_usage(usages: Iterable[Usage]) -> Usage:
    """The sum over the calls of a turn; one call without a price makes it None."""
    total = Usage(cost_usd=Decimal(0))
    for usage in usages:
        unpriced = total.cost_usd is None or usage.cost_usd is None
        cost = None if unpriced else total.cost_usd + usage.cost_usd  # type: ignore[operator]
        total = Usage(
            tokens_in=total.tokens_in + usage.tokens_in,
            tokens_out=total.tokens_out + usage.tokens_out,
            cached_tokens_in=total.cached_tokens_in + usage.cached_tokens_in,
            cache_write_tokens_in=total.cache_write_tokens_in
            + usage.cache_write_tokens_in,
            reasoning_tokens=total.reasoning_tokens + usage.reasoning_tokens,
            cost_usd=cost,
            is_estimated=total.is_estimated or usage.is_estimated,
        )
    return total


def price_for(model: str, rules: Iterable[PriceRule]) -> PriceRule | None:
    """The rule with the most fixed characters that matches, or None."""
    fitting = [rule for rule in rules if fnmatchcase(model, rule.model)]
    return max(fitting, key=_specificity, default=None)


def _specificity(rule: PriceRule) -> tuple[int, int, int]:
    """A class such as ``[0-9]`` stands for one character, and less than a literal."""
    glob, classes = _CLASS.subn("", rule.model)
    literal = sum(character not in "*?" for character in glob)
    return literal + classes, -classes, -glob.count("*")
