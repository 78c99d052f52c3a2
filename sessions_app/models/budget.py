"""Budgets, what was spent of them, and what is reserved for turns under way."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from sessions_app.domain.budget import Period, Unit
from sessions_app.models.turn import Turn

NAMED_KINDS = ("key", "agent", "embed")
OWN_KINDS = ("visitor", "session")
MAX_USD = 1_000_000
MAX_TOKENS = 10**15


def budget_target_fault(on: str) -> str:
    """Why ``on`` names nothing that can have a budget; empty if it does."""
    kind, colon, name = on.partition(":")
    if on in OWN_KINDS or (kind in NAMED_KINDS and colon and name):
        return ""
    return "must be key:NAME, agent:SLUG, embed:KEY, visitor or session."


def check_target(on: str) -> None:
    """Refuse a target that cannot have a budget."""
    if fault := budget_target_fault(on):
        raise ValidationError(f"It {fault}")


class Budget(models.Model):
    """Limits on what is spent; those on visitors and sessions count for each of them.

    A limit that is not set does not limit; one of 0 refuses everything.
    """

    on = models.CharField(
        max_length=150,
        validators=[check_target],
        help_text="key:NAME, agent:SLUG, embed:KEY, visitor (each one) or session"
        " (each one).",
    )
    period = models.CharField(
        max_length=8, choices=[(each.value, each.value) for each in Period]
    )
    usd = models.DecimalField(
        max_digits=18,
        decimal_places=8,
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(MAX_USD)],
    )
    tokens = models.BigIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(MAX_TOKENS)],
    )
    fallback_input = models.DecimalField(
        max_digits=18,
        decimal_places=8,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="USD per million tokens of models without a price; without it they"
        " are refused where the budget is in USD.",
    )
    fallback_output = models.DecimalField(
        max_digits=18,
        decimal_places=8,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    is_enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["on", "period"]
        constraints = [
            models.UniqueConstraint(
                fields=["on", "period"], name="one_budget_per_target_and_period"
            )
        ]

    def __str__(self) -> str:
        return f"{self.on}, {self.period}"

    def clean(self) -> None:
        """Refuse a budget that limits nothing, and half a fallback price."""
        if self.usd is None and self.tokens is None:
            raise ValidationError("Write a limit in USD, in tokens, or both.")
        if (self.fallback_input is None) != (self.fallback_output is None):
            raise ValidationError("A fallback price has an input and an output.")


class BudgetLedger(models.Model):
    """What was spent under one limit, by one subject, in one period.

    ``subject`` is a caller, an agent's slug, an embed's key or a session; ``spent`` is
    in tokens, or in 1e-12 USD.
    """

    budget = models.ForeignKey(Budget, on_delete=models.CASCADE, related_name="ledgers")
    subject = models.CharField(max_length=250)
    unit = models.CharField(max_length=8)
    period = models.CharField(max_length=10, blank=True, default="")
    spent = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["budget", "-period", "-spent"]
        constraints = [
            models.UniqueConstraint(
                fields=["budget", "subject", "unit", "period"],
                name="one_ledger_per_period",
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject} {self.period}"

    @property
    def amount(self) -> Any:
        """What was spent, as people write it."""
        is_money = self.unit == Unit.USD
        return f"${self.spent / 10**12:,.6f}" if is_money else f"{self.spent:,} tokens"


class BudgetReservation(models.Model):
    """What a turn that has not ended may use up at most; goes when the turn goes."""

    turn = models.ForeignKey(
        Turn, on_delete=models.CASCADE, related_name="reservations"
    )
    ledger = models.ForeignKey(
        BudgetLedger, on_delete=models.CASCADE, related_name="reservations"
    )
    amount = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "ledger"], name="one_reservation_per_turn_and_ledger"
            )
        ]

    def __str__(self) -> str:
        return f"{self.turn_id} {self.amount}"
