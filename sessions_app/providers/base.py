"""What the engine asks of an adapter."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """A configured account, as an adapter needs it; ``api_key`` is in the clear."""

    name: str
    kind: str
    base_url: str = ""
    api_key: str = ""
    allow_private: bool = False
    connect_timeout_s: float = 5.0
    first_content_timeout_s: float = 30.0
    idle_timeout_s: float = 30.0


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
