"""Decisions that read flags, never text."""

from __future__ import annotations

from sessions_app.domain.errors import ProviderError


def may_fail_over(error: ProviderError, deltas_sent: int) -> bool:
    """Whether the next candidate may be asked: never once a delta went out."""
    return error.retryable and deltas_sent == 0
