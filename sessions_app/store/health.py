"""How the providers do: cool-downs, alerts, and what the last attempts say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.models import Alert, Attempt, Provider
from sessions_app.store.catalog import accounts, auth_alert_key, cools_for_s

MAX_ALERTS = 20
MAX_ATTEMPTS = 1000
"""Of each provider, the newest ones; that is enough for a rate."""


@dataclass(frozen=True, slots=True)
class ProviderHealth:
    """One provider over the last ``health_window_s`` seconds; None is "not known".

    ``success_rate`` is from 0 to 1 and leaves cancelled attempts out; times in
    milliseconds; ``cools_for_s`` is what is left of its cool-down, in seconds;
    ``unpriced`` counts the attempts whose cost nobody knows.
    """

    provider: str
    attempts: int
    success_rate: float | None
    ttft_p50_ms: int | None
    ttft_p95_ms: int | None
    cools_for_s: float
    unpriced: int
    last_error: str
    last_error_at: datetime | None


def cool_down(provider: str, seconds: float) -> None:
    """Leave a provider alone for a while, in every process; never for shorter."""
    until = Now() + timedelta(seconds=seconds)
    rows = Provider.objects.filter(name=provider)
    is_longer = Q(cool_until=None) | Q(cool_until__lt=until)
    if rows.filter(is_longer).update(cool_until=until):
        accounts.forget()


@transaction.atomic
def call_operator(provider: str, diagnosis: str) -> None:
    """Raise the alert that a provider refuses the server's own key, or count it."""
    text = f"The provider {provider} refuses the server's key: {diagnosis}"
    alert, is_new = Alert.objects.get_or_create(
        key=auth_alert_key(provider), defaults={"text": text}
    )
    if not is_new:
        alerts = Alert.objects.filter(pk=alert.pk)
        alerts.update(text=text, count=F("count") + 1, last_at=Now())


def dismiss(provider: str) -> None:
    """The provider took the key again: its alert is over."""
    Alert.objects.filter(key=auth_alert_key(provider)).delete()


def open_alerts() -> list[Alert]:
    """What an operator has to mend, the latest first."""
    return list(Alert.objects.all()[:MAX_ALERTS])


def provider_health() -> list[ProviderHealth]:
    """The health of every enabled provider, as the admin and ``/metrics`` show it."""
    rows = Provider.objects.filter(is_enabled=True).annotate(now=Now())
    return [health_of(row) for row in rows]


def health_of(provider: Provider) -> ProviderHealth:
    """One provider's; ``provider`` is annotated with ``now``, the database's clock."""
    since = Now() - timedelta(seconds=conf().health_window_s)
    attempts = Attempt.objects.filter(provider=provider.name, created_at__gte=since)
    newest = list(
        attempts.order_by("-created_at").values_list(
            "status", "ttft_ms", "error_code", "created_at", "cost_usd", "tokens_in"
        )[:MAX_ATTEMPTS]
    )
    judged = [status for status, *_ in newest if status != "cancelled"]
    first_tokens = sorted(ttft for _, ttft, *_ in newest if ttft is not None)
    errors = [(code, at) for status, _, code, at, *_ in newest if status == "failed"]
    last_error, last_error_at = errors[0] if errors else ("", None)
    unpriced = sum(cost is None and used > 0 for *_, cost, used in newest)
    return ProviderHealth(
        provider=provider.name,
        attempts=len(newest),
        success_rate=judged.count("completed") / len(judged) if judged else None,
        ttft_p50_ms=_percentile(first_tokens, 50),
        ttft_p95_ms=_percentile(first_tokens, 95),
        cools_for_s=cools_for_s(provider),
        unpriced=unpriced,
        last_error=last_error,
        last_error_at=last_error_at,
    )


def _percentile(ordered: Sequence[int], percent: int) -> int | None:
    """The smallest value that so many percent do not exceed."""
    if not ordered:
        return None
    return ordered[math.ceil(len(ordered) * percent / 100) - 1]
