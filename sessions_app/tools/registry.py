"""From the tools that an agent names to tools that can be called."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from sessions_app.domain.tooling import HTTP, MCP, PYTHON, ToolConfig
from sessions_app.tools.base import Tool, ToolFault
from sessions_app.tools.builtin import BUILTIN
from sessions_app.tools.http_tool import HttpTool
from sessions_app.tools.mcp_tool import check_server, server_tools
from sessions_app.tools.python_tool import PythonTool

logger = logging.getLogger(__name__)

_MAKERS: Mapping[str, Callable[[ToolConfig], Tool]] = {
    HTTP: HttpTool.of,
    PYTHON: PythonTool.of,
}


def check_tool(config: ToolConfig) -> None:
    """ToolFault with a sentence for the operator if it cannot work as set up."""
    if config.kind != MCP and config.kind not in _MAKERS:
        raise ToolFault(f"there is no kind of tool {config.kind!r}.")
    try:
        if config.kind == MCP:
            check_server(config)
        else:
            _MAKERS[config.kind](config)
    except ToolFault:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise ToolFault("a setting is not of the form that it must have.") from error


def configs_of(
    names: Iterable[str], stored: Mapping[str, ToolConfig]
) -> list[ToolConfig]:
    """The tools that go by these names; a stored one comes before a built-in one."""
    known = {**BUILTIN, **stored}
    return [known[name] for name in names if name in known]


_tools: dict[str, tuple[ToolConfig, Tool]] = {}


def _made(config: ToolConfig) -> Tool:
    """The tool, made once for as long as it is set up so.

    Judging a schema takes half a millisecond, which no turn need wait for.
    """
    kept = _tools.get(config.name)
    if kept is None or kept[0] != config:
        kept = _tools[config.name] = config, _MAKERS[config.kind](config)
    return kept[1]


async def load_tools(configs: Iterable[ToolConfig]) -> dict[str, Tool]:
    """All tools of a turn by name; one that cannot be had is left out and logged."""
    tools: dict[str, Tool] = {}
    for found in await asyncio.gather(*map(_load, configs)):
        for each in found:
            tools.setdefault(each.spec.name, each)
    return tools


async def _load(config: ToolConfig) -> Sequence[Tool]:
    try:
        return [_made(config)] if config.kind != MCP else await server_tools(config)
    except ToolFault as error:
        logger.error("The tool %s cannot be offered: %s", config.name, error)
    except (TypeError, ValueError, AttributeError):
        # Its row is malformed; that costs the turn this tool, and nothing else.
        logger.exception("The tool %s cannot be offered.", config.name)
    return ()
