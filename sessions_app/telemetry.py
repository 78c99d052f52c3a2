"""What this process has done, counted for ``/metrics``.

Plain numbers, changed on the event loop only: a count costs no lock, and there is one
for each append, not for each token.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypeVar

from sessions_app.domain.outcome import TurnEnd

K = TypeVar("K")


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

    def plus(self, other: Counts) -> Counts:
        """Both together, for any thread: either may be counted up meanwhile."""
        cost_usd = dict(self.cost_usd)
        for place, usd in dict(other.cost_usd).items():
            cost_usd[place] = cost_usd.get(place, Decimal(0)) + usd
        return Counts(
            deltas=self.deltas + other.deltas,
            appends=self.appends + other.appends,
            turns=_both(self.turns, other.turns),
            attempts=_both(self.attempts, other.attempts),
            tokens=_both(self.tokens, other.tokens),
            cost_usd=cost_usd,
            tool_calls=_both(self.tool_calls, other.tool_calls),
            requests=_both(self.requests, other.requests),
        )


def _both(one: Counter[K], other: Counter[K]) -> Counter[K]:
    """Their sum, zeros kept; each is copied in one step of the interpreter."""
    both = Counter(one)
    both.update(Counter(other))
    return both


counts = Counts()
