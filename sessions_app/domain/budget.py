"""What may be spent: the amounts of a budget, and what a call may cost at most.

Amounts are whole numbers, so that every database adds them up exactly: tokens, or
millionths of a millionth of a US dollar, the step in which costs are stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from sessions_app.domain.errors import BudgetExceeded
from sessions_app.domain.prompt import CompletionRequest, PromptMessage, ToolSpec
from sessions_app.domain.usage import COST_STEP, PriceRule, Usage, cost_of

BYTES_PER_TOKEN = 3
"""English has about four characters a token, Chinese three bytes a character."""
TOKENS_PER_MESSAGE = 16
"""What a chat template puts around it; one that a model was not made for, 15."""
TOKENS_PER_IMAGE = 2_000
"""More than vendors count of one image; they shrink what is larger."""
TOKENS_PER_CALL = 12
PICO = int(1 / COST_STEP)


class Unit(StrEnum):
    """What a limit counts."""

    USD = "usd"
    TOKENS = "tokens"


class Period(StrEnum):
    """How often a budget begins anew, in UTC."""

    DAY = "day"
    MONTH = "month"
    TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a budget; ``fallback`` prices what has no price of its own.

    ``on`` is ``key:NAME``, ``agent:SLUG``, ``embed:KEY``, ``visitor`` or ``session``.
    """

    budget_id: int
    on: str
    period: Period
    unit: Unit
    amount: int
    fallback: PriceRule | None = None

    def needed(self, tokens_in: int, tokens_out: int, price: PriceRule | None) -> int:
        """The most that a call can use up; ValueError if its price is not known."""
        if self.unit is Unit.TOKENS:
            return tokens_in + tokens_out
        price = price or self.fallback
        if price is None:
            raise ValueError("the model has no price")
        price = price.for_prompt(tokens_in)
        dearest = max(price.input, price.cached_input or 0, price.cache_write or 0)
        return math.ceil(
            (tokens_in * dearest + tokens_out * price.output) * (PICO // 10**6)
        )

    def used(self, usage: Usage) -> int:
        """What an attempt used up; one without a price costs the fallback's, or 0."""
        if self.unit is Unit.TOKENS:
            return usage.tokens_in + usage.tokens_out
        cost = usage.cost_usd
        if cost is None:
            cost = cost_of(usage, self.fallback) or Decimal(0)
        return int(cost * PICO)

    def can_count(self, price: PriceRule | None) -> bool:
        """Whether calls at this price, or at none, can be counted."""
        if self.unit is Unit.TOKENS:
            return True
        return price is not None or self.fallback is not None

    def exceeded(self, spent: int, period: str) -> BudgetExceeded:
        """The refusal: which budget, its limit, what is used up, when it renews.

        ``period`` is the name of the one that was counted, which may just be over.
        """
        renews = renews_at(self.period, period)
        unit = "Usd" if self.unit is Unit.USD else "Tokens"
        details: dict[str, Any] = {
            "budget": self.on,
            "period": str(self.period),
            f"limit{unit}": self._shown(self.amount),
            f"spent{unit}": self._shown(spent),
            "renewsAt": None if renews is None else f"{renews:%Y-%m-%dT%H:%M:%SZ}",
        }
        return BudgetExceeded(**details)

    def unpriced(self) -> BudgetExceeded:
        """The refusal of a model whose cost nobody knows."""
        return BudgetExceeded(
            "The model has no price, and a budget in USD applies.",
            budget=self.on,
            period=str(self.period),
        )

    def _shown(self, amount: int) -> int | float:
        return amount if self.unit is Unit.TOKENS else amount / PICO


@dataclass(slots=True)
class Allowance:
    """What is reserved for a turn under one limit."""

    ledger_id: int
    limit: Limit
    reserved: int


def tokens_at_most(
    messages: Iterable[PromptMessage], tools: Iterable[ToolSpec] = ()
) -> int:
    """An upper estimate of a prompt's tokens."""
    return sum(map(message_tokens, messages)) + sum(map(_tool_tokens, tools))


def message_tokens(message: PromptMessage) -> int:
    """An upper estimate of one message's tokens."""
    size = len(message.content.encode())
    for call in message.tool_calls:
        size += len(call.name) + len(msgspec.json.encode(call.arguments))
    markup = TOKENS_PER_MESSAGE + TOKENS_PER_CALL * len(message.tool_calls)
    images = TOKENS_PER_IMAGE * len(message.images)
    return math.ceil(size / BYTES_PER_TOKEN) + markup + images


def _tool_tokens(tool: ToolSpec) -> int:
    size = len(msgspec.json.encode(tool))
    return math.ceil(size / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE


def request_tokens(request: CompletionRequest) -> int:
    """An upper estimate of the tokens that a request sends."""
    return tokens_at_most(request.messages, request.tools)


def period_name(period: Period, now: datetime) -> str:
    """The name of the period that is now, such as ``2026-12``; empty for all time."""
    if period is Period.TOTAL:
        return ""
    day = now.astimezone(UTC).date().isoformat()
    return day if period is Period.DAY else day[:7]


def renews_at(period: Period, name: str) -> datetime | None:
    """When the period after the one of that name begins; None if there is none."""
    if period is Period.TOTAL:
        return None
    if period is Period.DAY:
        return _midnight(date.fromisoformat(name) + timedelta(days=1))
    first = date.fromisoformat(f"{name}-01")
    return _midnight((first + timedelta(days=32)).replace(day=1))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
