"""Holding a turn to what is reserved for it under its budgets."""

from __future__ import annotations

from collections.abc import Sequence

from sessions_app.domain.budget import Allowance, request_tokens
from sessions_app.domain.outcome import AttemptRecord
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import Candidate
from sessions_app.store import budgets
from sessions_app.store.db import in_thread


class Spending:
    """What the calls of one turn may use up; nothing to do without a budget."""

    def __init__(self, turn_id: str, allowances: Sequence[Allowance]) -> None:
        self._turn_id = turn_id
        self._allowances = allowances

    async def require(
        self,
        request: CompletionRequest,
        candidate: Candidate,
        earlier: Sequence[AttemptRecord],
    ) -> None:
        """Have enough reserved before a call is made; raises BudgetExceeded.

        ``earlier`` are the attempts that the turn has made by now.
        """
        if not self._allowances:
            return
        tokens_in, tokens_out = request_tokens(request), request.max_output_tokens or 0
        needs = []
        for allowance in self._allowances:
            limit = allowance.limit
            amount = sum(limit.used(attempt.usage) for attempt in earlier)
            amount += limit.needed(tokens_in, tokens_out, candidate.price)
            if amount > allowance.reserved:
                needs.append((allowance, amount))
        if not needs:
            return
        await in_thread(budgets.extend, self._turn_id, needs)
        for allowance, amount in needs:
            allowance.reserved = amount
