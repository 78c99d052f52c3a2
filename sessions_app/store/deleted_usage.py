"""Keeps what a conversation has cost when the conversation itself goes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from django.db.models import F

from sessions_app.domain.budget import PICO
from sessions_app.models import Attempt, DeletedUsage, Session

Place = tuple[str, str, str]
"""Month, provider and model."""


def payer_of(owner: str) -> str:
    """The kind of owner, the embed of a visitor, and the key of a server: no person."""
    return owner if owner.startswith("key:") else owner.rpartition(":")[0] + ":"


def keep_usage(session: Session) -> None:
    """Add what the session's attempts used to the sums; its row must be locked."""
    for (month, provider, model), used in _used_by(session.pk).items():
        row, _ = DeletedUsage.objects.get_or_create(
            month=month,
            agent=session.agent.slug,
            payer=payer_of(session.owner),
            provider=provider,
            model=model,
        )
        added = {name: F(name) + amount for name, amount in used.items()}
        DeletedUsage.objects.filter(pk=row.pk).update(**added)


def _used_by(session_id: str) -> Mapping[Place, Mapping[str, int]]:
    places: defaultdict[Place, Counter[str]] = defaultdict(Counter)
    # Added up here: SQLite's own sums of decimals are floats.
    for attempt in Attempt.objects.filter(turn__session=session_id):
        month = f"{attempt.created_at:%Y-%m}"
        cost, used = attempt.cost_usd, attempt.tokens_in
        places[month, attempt.provider, attempt.model].update(
            attempts=1,
            unpriced=int(cost is None and used > 0),
            tokens_in=used,
            tokens_out=attempt.tokens_out,
            cached_tokens_in=attempt.cached_tokens_in,
            cost=int((cost or 0) * PICO),
        )
    return places
