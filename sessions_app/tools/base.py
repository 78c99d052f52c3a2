"""What a tool is."""

from __future__ import annotations

from typing import Any, Protocol

from sessions_app.domain.prompt import ToolSpec


class ToolError(Exception):
    """A tool failed; the text is for the model and for clients."""


class Tool(Protocol):
    """Something a model may ask for."""

    @property
    def spec(self) -> ToolSpec:
        """How it is offered to the model."""
        ...

    async def call(self, arguments: dict[str, Any]) -> str:
        """Run it; the result is text for the model. Raises ToolError."""
        ...
