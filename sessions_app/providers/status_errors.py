"""HTTP statuses and error codes of providers, mapped to the error tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from sessions_app.domain.errors import (
    ProviderAuth,
    ProviderError,
    ProviderFailed,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRefused,
    ProviderTimeout,
)

MAX_RETRY_AFTER_S = 86_400.0

# 404 is an unknown model or a wrong base_url: the fault of this candidate, not of
# the request, so the next one may be asked. The same holds for 402 (no credit).
_BY_STATUS: Mapping[int, type[ProviderError]] = {
    400: ProviderRefused,
    401: ProviderAuth,
    403: ProviderAuth,
    408: ProviderTimeout,
    413: ProviderRefused,
    422: ProviderRefused,
    429: ProviderRateLimited,
    503: ProviderOverloaded,
    529: ProviderOverloaded,
}


def error_for_status(
    status: int, *, diagnosis: str = "", retry_after_s: float | None = None
) -> ProviderError:
    """The error for an HTTP status, or for a numeric code inside a reply."""
    kind = _BY_STATUS.get(status, ProviderFailed)
    return kind(status=status, diagnosis=diagnosis, retry_after_s=retry_after_s)


def parse_retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """``Retry-After`` in seconds, from seconds or a date; None if unreadable."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    if not math.isfinite(seconds):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S)
