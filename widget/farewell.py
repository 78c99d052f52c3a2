"""Visitors who had all that was theirs deleted: their older tokens are refused."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

from django.utils import timezone

from sessions_app.domain import ids
from widget.models import Farewell

KEPT_S = 31 * 24 * 3600
"""A day more than a token can be renewed."""


def digest_of(owner: str) -> str:
    """What is kept of a visitor's name."""
    return sha256(owner.encode()).hexdigest()


def say_farewell(owner: str) -> None:
    """Refuse the tokens that this visitor has now; other owners have none."""
    if not owner.startswith("visitor:"):
        return
    now = timezone.now()
    Farewell.objects.filter(at__lt=now - timedelta(seconds=KEPT_S)).delete()
    fields = {"mark": ids.random_text(ids.LENGTH), "at": now}
    Farewell.objects.update_or_create(visitor=digest_of(owner), defaults=fields)


def mark_of(owner: str) -> str:
    """What a token of this visitor has to hold to be valid; empty if nothing."""
    found = Farewell.objects.filter(visitor=digest_of(owner))
    return found.values_list("mark", flat=True).first() or ""
