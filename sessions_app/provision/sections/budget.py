"""Budgets in the file."""

from __future__ import annotations

from sessions_app.domain.budget import Period
from sessions_app.models import Budget
from sessions_app.models.budget import (
    MAX_TOKENS,
    MAX_USD,
    NAMED_KINDS,
    budget_target_fault,
)
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.report import Outcome
from sessions_app.provision.section import Section


def check_on(on: str) -> None:
    """Something that can have a budget."""
    if fault := budget_target_fault(on):
        raise Refused(f"is {on!r}; it {fault}")
    f.up_to(150)(on)


class BudgetSection(Section[Budget]):
    """What may be spent."""

    model = Budget
    about = (
        "What may be spent in a day, a month, or ever, in USD, in tokens, or both; a"
        " limit of 0 refuses everything. See [budgets](../howto/budgets.md)."
    )
    identity = ("on", "period")
    fields = (
        Field(
            "on",
            f.TEXT,
            "`key:NAME`, `agent:SLUG`, `embed:KEY`, or `visitor` or `session`: each"
            " one of them.",
            True,
            check_on,
        ),
        Field(
            "period",
            f.TEXT,
            "`day` or `month`, in UTC, or `total`.",
            True,
            f.one_of([each.value for each in Period]),
        ),
        Field("usd", f.DECIMAL, "Limit in USD.", check=f.within(0, MAX_USD)),
        Field("tokens", f.INTEGER, "Limit in tokens.", check=f.within(0, MAX_TOKENS)),
        Field(
            "fallback_input",
            f.DECIMAL,
            "USD per million tokens of the prompt, for models without a price; without"
            " it a budget in USD refuses them.",
        ),
        Field("fallback_output", f.DECIMAL, "The same for tokens of the reply."),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        kind, _, name = entry.values["on"].partition(":")
        if kind in NAMED_KINDS:
            plan.require(kind, name, entry, "on")
        if not {"usd", "tokens"} & set(entry.values):
            raise entry.fault("[[budget]] needs the key 'usd' or 'tokens'.")
        if ("fallback_input" in entry.values) != ("fallback_output" in entry.values):
            raise entry.fault(
                "[[budget]] needs 'fallback_input' and 'fallback_output' together."
            )

    def stored_names(self) -> set[str]:
        return set()  # nothing refers to a budget

    def prune(self, section: str, plan: Plan) -> None:
        """Disable the budgets that the file does not name."""
        named = {entry.names for entry in plan.entries.get(section, [])}
        for budget in self.rows().filter(is_enabled=True):
            if (budget.on, budget.period) not in named:
                budget.is_enabled = False
                budget.save(update_fields=["is_enabled"])
                label = f"{section} {budget.on}/{budget.period}"
                plan.report.note(label, Outcome.DISABLED)
