"""Decisions that read flags, never text."""

from __future__ import annotations

from dataclasses import dataclass

from sessions_app.domain.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Candidate:
    """One step of a route: a provider's name and the model to ask it for."""

    provider: str
    model: str

    @classmethod
    def parse(cls, text: str) -> Candidate:
        """Read ``provider/model``; the model may hold more slashes."""
        provider, slash, model = text.partition("/")
        if not slash or not provider or not model:
            raise ValueError(f"{text!r} is not of the form provider/model")
        return cls(provider, model)


def may_fail_over(error: ProviderError, deltas_sent: int) -> bool:
    """Whether the next candidate may be asked: never once a delta went out."""
    return error.retryable and deltas_sent == 0
