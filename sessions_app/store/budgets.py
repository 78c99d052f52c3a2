"""Budgets in the database: reserving before a call, settling after the turn.

A ledger's row is locked while it is looked at, and its reservations are added up each
time: one that dies with its turn is gone without anybody's doing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from sessions_app.domain.budget import (
    PICO,
    Allowance,
    Limit,
    Period,
    Unit,
    period_name,
    tokens_at_most,
)
from sessions_app.domain.context import fitting, room_for_prompt
from sessions_app.domain.policy import payable
from sessions_app.domain.route import Candidate, TurnWork
from sessions_app.domain.usage import PriceRule, Usage
from sessions_app.models import ApiKey, Budget
from sessions_app.store import sql
from sessions_app.store.catalog import Kept

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Payer:
    """On whose budgets a turn goes: the caller, the agent and the session."""

    caller: str
    agent: str
    session_id: str

    def subjects(self, keys: Mapping[str, str]) -> dict[str, str]:
        """The subject of each target; ``keys`` are names by caller."""
        found = {f"agent:{self.agent}": self.agent, "session": self.session_id}
        kind, _, rest = self.caller.partition(":")
        if kind == "key":
            found[f"key:{keys.get(self.caller, '')}"] = self.caller
        elif kind == "visitor":
            embed = rest.rpartition(":")[0]
            found |= {f"embed:{embed}": embed, "visitor": self.caller}
        return found


@dataclass(frozen=True, slots=True)
class _Budgets:
    """``limits`` are in force; ``known`` holds those of disabled budgets, too."""

    limits: list[Limit]
    known: dict[tuple[int, str], Limit]
    keys: dict[str, str]


def _load() -> _Budgets:
    rows = list(Budget.objects.order_by("pk"))
    known = {
        (row.pk, str(limit.unit)): limit for row in rows for limit in limits_of(row)
    }
    enabled = {row.pk for row in rows if row.is_enabled}
    limits = [each for each in known.values() if each.budget_id in enabled]
    keys = ApiKey.objects.values_list("pk", "name") if limits else []
    return _Budgets(limits, known, {f"key:{pk}": name for pk, name in keys})


budgets = Kept(_load, Budget, ApiKey)


def limits_of(budget: Budget) -> list[Limit]:
    """The limits that a budget sets."""
    fallback = None
    if budget.fallback_input is not None and budget.fallback_output is not None:
        fallback = PriceRule("*", budget.fallback_input, budget.fallback_output)
    period = _period_of(budget)
    found = []
    if budget.usd is not None:
        amount = int(budget.usd * PICO)
        limit = Limit(budget.pk, budget.on, period, Unit.USD, amount, fallback)
        found.append(limit)
    if budget.tokens is not None:
        limit = Limit(budget.pk, budget.on, period, Unit.TOKENS, budget.tokens)
        found.append(limit)
    return found


def _period_of(budget: Budget) -> Period:
    """The strictest where the row names none: a budget must not come to nothing."""
    try:
        return Period(budget.period)
    except ValueError:
        logger.error("The budget %s has no such period; it counts for ever.", budget)
        return Period.TOTAL


def applying(payer: Payer) -> list[tuple[Limit, str]]:
    """The limits that a turn of the payer goes on, each with its subject."""
    known = budgets.get()
    if not known.limits:
        return []
    subjects = payer.subjects(known.keys)
    return [
        (limit, subjects[limit.on]) for limit in known.limits if limit.on in subjects
    ]


def reserve(work: TurnWork, limits: Sequence[tuple[Limit, str]]) -> None:
    """Set aside what the first call of a turn may use up; raises BudgetExceeded.

    Within the transaction that accepts the turn: what is refused leaves no trace.
    """
    candidates = payable(work.candidates, [limit for limit, _ in limits])
    tokens_in = max((_prompt_tokens(work, each) for each in candidates), default=0)
    tokens_out = work.max_output_tokens or 0
    for limit, subject in limits:
        if work.candidates and not candidates:
            raise limit.unpriced()
        needs = (
            limit.needed(tokens_in, tokens_out, candidate.price)
            for candidate in candidates
        )
        ledger_id = _ledger(limit, subject)
        amount = max(needs, default=0)
        _require(limit, ledger_id, work.turn_id, amount)
        sql.change(
            "INSERT INTO sessions_app_budgetreservation (turn_id, ledger_id, amount)"
            " VALUES (%s, %s, %s)",
            work.turn_id,
            ledger_id,
            amount,
        )
    sql.change(
        "UPDATE sessions_app_turn SET is_budgeted = TRUE WHERE id = %s", work.turn_id
    )


def _prompt_tokens(work: TurnWork, candidate: Candidate) -> int:
    tools = work.client_tools
    room = room_for_prompt(candidate.context_tokens, work.max_output_tokens, tools)
    messages, _ = fitting(work.prompt, room)
    return tokens_at_most(messages, tools)


@transaction.atomic
def extend(turn_id: str, needs: Sequence[tuple[Allowance, int]]) -> None:
    """Set aside more for a turn, up to these amounts; raises BudgetExceeded."""
    for allowance, amount in needs:
        _require(allowance.limit, allowance.ledger_id, turn_id, amount)
        sql.change(
            "UPDATE sessions_app_budgetreservation SET amount = %s"
            " WHERE turn_id = %s AND ledger_id = %s",
            amount,
            turn_id,
            allowance.ledger_id,
        )


def allowances_of(turn_id: str) -> tuple[Allowance, ...]:
    """What is reserved for a turn, in the order in which ledgers are locked."""
    rows = sql.rows(
        "SELECT l.id, l.unit, r.amount, l.budget_id"
        " FROM sessions_app_budgetreservation r"
        " JOIN sessions_app_budgetledger l ON l.id = r.ledger_id"
        " WHERE r.turn_id = %s ORDER BY l.budget_id, l.unit DESC, l.id",
        turn_id,
    )
    known = budgets.get().known
    if any((budget_id, unit) not in known for _, unit, _, budget_id in rows):
        budgets.forget()  # made by another process a moment ago
        known = budgets.get().known
    return tuple(
        Allowance(ledger_id, known[budget_id, unit], amount)
        for ledger_id, unit, amount, budget_id in rows
        if (budget_id, unit) in known
    )


def settle(turn_id: str) -> None:
    """Book what the turn's attempts used up, and free what was set aside for it."""
    allowances = allowances_of(turn_id)
    rows = sql.rows(
        "SELECT tokens_in, tokens_out, cached_tokens_in, cache_write_tokens_in,"
        " cost_usd FROM sessions_app_attempt WHERE turn_id = %s",
        turn_id,
    )
    usages = [
        Usage(tokens_in, tokens_out, cached, written, cost_usd=_decimal(cost))
        for tokens_in, tokens_out, cached, written, cost in rows
    ]
    for allowance in allowances:
        sql.change(
            "UPDATE sessions_app_budgetledger SET spent = spent + %s WHERE id = %s",
            sum(map(allowance.limit.used, usages)),
            allowance.ledger_id,
        )
    sql.change("DELETE FROM sessions_app_budgetreservation WHERE turn_id = %s", turn_id)


def _decimal(value: object) -> Decimal | None:
    """SQLite gives a float, whose shortest form has the digits that were stored."""
    return None if value is None else Decimal(str(value))


def _ledger(limit: Limit, subject: str) -> int:
    """The ledger of the period that is now, made if it is the first turn's."""
    key = (
        limit.budget_id,
        subject,
        str(limit.unit),
        period_name(limit.period, timezone.now()),
    )
    select = (
        "SELECT id FROM sessions_app_budgetledger"
        " WHERE budget_id = %s AND subject = %s AND unit = %s AND period = %s"
    )
    if not (found := sql.rows(select, *key)):
        sql.change(
            "INSERT INTO sessions_app_budgetledger"
            " (budget_id, subject, unit, period, spent) VALUES (%s, %s, %s, %s, 0)"
            " ON CONFLICT DO NOTHING",
            *key,
        )
        found = sql.rows(select, *key)
    return int(found[0][0])


def _require(limit: Limit, ledger_id: int, turn_id: str, amount: int) -> None:
    """Refuse an amount that the limit has no room for; holds the ledger's lock."""
    lock = sql.for_update_of("l")
    ((spent, period),) = sql.rows(
        "SELECT l.spent, l.period FROM sessions_app_budgetledger l"
        f" WHERE l.id = %s{lock}",
        ledger_id,
    )
    ((others,),) = sql.rows(
        "SELECT COALESCE(SUM(amount), 0) FROM sessions_app_budgetreservation"
        " WHERE ledger_id = %s AND turn_id <> %s",
        ledger_id,
        turn_id,
    )
    taken = int(spent) + int(others)
    # A budget of 0 refuses also what costs nothing.
    if not limit.amount or taken + amount > limit.amount:
        raise limit.exceeded(taken, period)
