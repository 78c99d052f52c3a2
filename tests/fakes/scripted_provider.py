"""A provider for the engine's tests: it yields the parts of a script."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from sessions_app.domain.parts import FinishPart, Part, StopReason, TextPart
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.base import ProviderAdapter

Step = Part | float | BaseException | asyncio.Event
STOP = FinishPart(StopReason.STOP)


def says(*texts: str) -> list[Step]:
    """A reply of these texts that ends well."""
    return [*map(TextPart, texts), STOP]


class ScriptedProvider:
    """Plays one script a call; a number waits, an event is waited for, errors rise.

    The last script is played again and again. ``requests`` holds what was asked,
    ``was_closed`` counts the replies that were left early.
    """

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self._scripts = list(scripts)
        self.requests: list[CompletionRequest] = []
        self.configs: list[ProviderConfig] = []
        self.was_closed = 0

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        self.requests.append(request)
        self.configs.append(config)
        scripts = self._scripts
        script = scripts.pop(0) if len(scripts) > 1 else scripts[0]
        is_whole = False
        try:
            for step in script:
                match step:
                    case float() | int():
                        await asyncio.sleep(step)
                    case asyncio.Event():
                        await step.wait()
                    case BaseException():
                        raise step
                    case _:
                        yield [step]
            is_whole = True
        finally:
            self.was_closed += not is_whole

    def find(self, kind: str) -> ProviderAdapter:
        """Stands in for the registry: this provider whatever the kind."""
        return self
