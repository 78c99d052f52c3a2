"""Budgets in the dashboard, with what was spent of them."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from sessions_app.domain.budget import Period, period_name
from sessions_app.models import Budget, BudgetLedger
from sessions_app.models.budget import OWN_KINDS
from sessions_app.target_field import TargetForm

MAX_LEDGERS = 50


class BudgetForm(TargetForm):
    """On whom, and how much in which time."""

    each = {"visitor": "Each visitor", "session": "Each session"}

    class Meta:
        model = Budget
        fields = (
            "on",
            "period",
            "usd",
            "tokens",
            "fallback_input",
            "fallback_output",
            "is_enabled",
        )
        labels: ClassVar[dict[str, str]] = {
            "usd": "USD",
            "fallback_input": "Fallback price, input",
            "fallback_output": "Fallback price, output",
        }
        help_texts: ClassVar[dict[str, str]] = {
            "usd": "At most so much in a period; empty: no limit in money.",
            "tokens": "At most so many in a period; empty: no limit in tokens.",
            "fallback_output": "The same for tokens of the reply.",
        }


class LedgerInline(admin.TabularInline[BudgetLedger, Budget]):
    """The latest ledgers; the engine writes them."""

    model = BudgetLedger
    extra = 0
    can_delete = False
    fields = readonly_fields = ("period", "subject", "amount")

    def get_queryset(self, request: HttpRequest) -> QuerySet[BudgetLedger]:
        rows = super().get_queryset(request)
        newest = rows.order_by("-pk").values_list("pk", flat=True)[:MAX_LEDGERS]
        return rows.filter(pk__in=list(newest))

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    @admin.display(description="Spent")
    def amount(self, ledger: BudgetLedger) -> str:
        return str(ledger.amount)


@admin.register(Budget)
class BudgetAdmin(admin.ModelAdmin[Budget]):
    """What may be spent."""

    form = BudgetForm
    list_display = ("on", "period", "usd", "tokens", "spent_now", "is_enabled")
    inlines = (LedgerInline,)

    @admin.display(description="Spent in this period")
    def spent_now(self, budget: Budget) -> str:
        """The sum, or for visitors and sessions the one that spent most."""
        name = period_name(Period(budget.period), timezone.now())
        ledgers = list(budget.ledgers.filter(period=name).order_by("-spent")[:2])
        if not ledgers:
            return "nothing"
        if budget.on in OWN_KINDS:
            return f"at most {ledgers[0].amount} by one"
        return " and ".join(str(ledger.amount) for ledger in ledgers)
