"""What the engine asks of an adapter."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig

__all__ = ["ProviderAdapter", "ProviderConfig"]


class ProviderAdapter(Protocol):
    """Code for one API family."""

    def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        """Yield the parts of one reply, all those of one network read together.

        Parts that arrived before an error are yielded before it is raised. Ends
        after exactly one FinishPart, or raises a ProviderError. Closing the
        generator closes the provider's connection at once. Deadlines are the
        caller's, except for the connect timeout.
        """
        ...
