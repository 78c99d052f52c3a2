"""How much work there is, for ``/metrics``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, ExpressionWrapper, F, Max, fields
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain.states import TurnState
from sessions_app.models import Turn

OPEN = (TurnState.QUEUED, TurnState.RUNNING, TurnState.AWAITING_TOOLS)


@dataclass(frozen=True, slots=True)
class Load:
    """Open turns by state, and ages in seconds; 0 if there is nothing to be old."""

    open_turns: dict[str, int]
    oldest_queued_s: float
    oldest_lease_s: float


def load() -> Load:
    """The work of all processes; reads open turns only, whatever has ended."""
    open_turns = Turn.objects.filter(state__in=OPEN).order_by()
    found = dict(open_turns.values_list("state").annotate(Count("pk")))
    queued = open_turns.filter(state=TurnState.QUEUED)
    waits = queued.aggregate(age=Max(_since("created_at")))["age"]
    running = open_turns.filter(state=TurnState.RUNNING)
    lease = running.aggregate(age=Max(_since("lease_until")))["age"]
    return Load(
        open_turns={state.value: found.get(state.value, 0) for state in OPEN},
        oldest_queued_s=waits.total_seconds() if waits else 0.0,
        # Renewed to its whole length, a lease ends that much later.
        oldest_lease_s=lease.total_seconds() + conf().lease_s if lease else 0.0,
    )


def _since(column: str) -> Any:
    return ExpressionWrapper(Now() - F(column), output_field=fields.DurationField())
