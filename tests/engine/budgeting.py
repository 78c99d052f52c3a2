"""Budgets for the tests, and what stands in the ledgers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sessions_app.domain.budget import PICO
from sessions_app.models import Budget, BudgetLedger, BudgetReservation
from sessions_app.store.db import in_thread


async def give_budget(on: str = "session", period: str = "total", **fields: Any) -> int:
    """A budget; its id."""
    made = await in_thread(Budget.objects.create, on=on, period=period, **fields)
    return int(made.pk)


async def spent_usd() -> list[Decimal]:
    """What stands in the ledgers of USD."""
    rows = BudgetLedger.objects.filter(unit="usd").order_by("pk")
    found = await in_thread(lambda: list(rows.values_list("spent", flat=True)))
    return [Decimal(each) / PICO for each in found]


async def spent_tokens() -> list[int]:
    """What stands in the ledgers of tokens."""
    rows = BudgetLedger.objects.filter(unit="tokens").order_by("pk")
    return await in_thread(lambda: list(rows.values_list("spent", flat=True)))


async def reserved() -> list[int]:
    """What is set aside for turns under way."""
    rows = BudgetReservation.objects.order_by("pk")
    return await in_thread(lambda: list(rows.values_list("amount", flat=True)))
