"""Tools that are Python functions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sessions_app.domain.prompt import ToolSpec
from sessions_app.tools.base import ToolError


@dataclass(frozen=True, slots=True)
class PythonTool:
    """Runs a function off the event loop, the arguments as its keywords."""

    spec: ToolSpec
    function: Callable[..., str]

    async def call(self, arguments: dict[str, Any]) -> str:
        try:
            return str(await asyncio.to_thread(self.function, **arguments))
        except TypeError as error:
            raise ToolError("The arguments do not fit the tool.") from error
        except Exception as error:
            raise ToolError("The tool failed.") from error
