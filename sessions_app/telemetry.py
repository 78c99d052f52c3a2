"""What this process has done, counted for ``/metrics``.

Plain numbers, changed on the event loop only: a count costs no lock, and there is one
for each append, not for each token.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from sessions_app.domain.outcome import TurnEnd


@dataclass(slots=True)
class Counts:
    """Since the process began; tokens and money are by provider and model."""

    deltas: int = 0
    appends: int = 0
    turns: Counter[str] = field(default_factory=Counter)
    attempts: Counter[tuple[str, str]] = field(default_factory=Counter)
    tokens: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    cost_usd: dict[tuple[str, str], Decimal] = field(default_factory=dict)
    tool_calls: Counter[str] = field(default_factory=Counter)
    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)

    def turn_ended(self, end: TurnEnd) -> None:
        """A turn's end was stored."""
        self.turns[end.state.value] += 1
        for attempt in end.attempts:
            place = (attempt.provider, attempt.model)
            usage = attempt.usage
            self.attempts[attempt.provider, attempt.status] += 1
            self.tokens[(*place, "in")] += usage.tokens_in
            self.tokens[(*place, "out")] += usage.tokens_out
            if usage.cost_usd is not None:
                before = self.cost_usd.get(place, Decimal(0))
                self.cost_usd[place] = before + usage.cost_usd


counts = Counts()
