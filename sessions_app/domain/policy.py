"""Decisions that read flags, never text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sessions_app.domain.budget import Limit
from sessions_app.domain.errors import ProviderError
from sessions_app.domain.route import Candidate


def may_fail_over(error: ProviderError, deltas_sent: int) -> bool:
    """Whether the next candidate may be asked: never once a delta went out."""
    return error.retryable and deltas_sent == 0


def worth_asking(
    candidates: Sequence[Candidate], cool_downs: Mapping[str, float], now: float
) -> Sequence[Candidate]:
    """The candidates whose providers did not ask to be left alone, in order.

    All of them, if every one did: a provider that may refuse is better than none.
    ``cool_downs`` are the ends by provider that came up since the turn was claimed.
    """
    awake = [
        candidate
        for candidate in candidates
        if now >= max(candidate.cool_until, cool_downs.get(candidate.provider.name, 0))
    ]
    return awake or candidates


def payable(
    candidates: Sequence[Candidate], limits: Iterable[Limit]
) -> tuple[Candidate, ...]:
    """The candidates whose calls every limit can count."""
    limits = list(limits)
    return tuple(
        candidate
        for candidate in candidates
        if all(limit.can_count(candidate.price) for limit in limits)
    )
