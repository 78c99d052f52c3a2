"""Real MCP servers in a session: one over stdio, one over streamable HTTP."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady
from sessions_app.models import Tool
from sessions_app.store.db import in_thread
from sessions_app.tools import mcp_client
from sessions_app.tools.mcp_tool import close_servers
from tests.engine.conftest import Engine
from tests.fakes.live_server import free_port
from tests.fakes.scripted_provider import ScriptedProvider, says

EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
SERVERS = Path(__file__).parent.parent / "servers"
TIME = [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"]
WANTS_TOOLS = FinishPart(StopReason.STOP, is_tool_calls=True)

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
async def mcp(engine: Engine) -> AsyncIterator[Engine]:
    yield engine
    await close_servers()


async def offer(engine: Engine, name: str, **settings: Any) -> None:
    await in_thread(
        Tool.objects.create,
        name=name,
        kind="mcp",
        settings=settings,
        allow_private=True,
    )
    engine.agent.tools = [name]
    await in_thread(engine.agent.save)


def asks(name: str, **arguments: Any) -> ScriptedProvider:
    call = ToolCallReady("call_0", name, arguments)
    return ScriptedProvider([call, WANTS_TOOLS], says("done"))


async def test_stdio_server_lists_and_runs_its_tools(mcp: Engine) -> None:
    await offer(mcp, "time", command=TIME)
    provider = asks("time__get_current_time", timezone="UTC")
    events = dict(await mcp.run(provider))
    assert '"timezone": "UTC"' in events["tool_call_completed"]["result"]
    offered = [spec.name for spec in provider.requests[0].tools]
    assert offered == ["time__get_current_time", "time__convert_time"]


async def test_refusal_of_a_server_goes_to_the_model(mcp: Engine) -> None:
    await offer(mcp, "time", command=TIME)
    events = dict(await mcp.run(asks("time__get_current_time", timezone="Mars")))
    assert "Mars" in events["tool_call_failed"]["error"]
    assert events["message_completed"]["text"] == "done"


@pytest.fixture
async def everything() -> AsyncIterator[str]:
    """The address of the reference server that has a tool for everything."""
    port = free_port()
    node = shutil.which("node")
    assert node, "Node is needed: make node"
    server = await asyncio.create_subprocess_exec(
        node,
        str(SERVERS / EVERYTHING),
        "streamableHttp",
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert server.stderr is not None
    said = b""
    while b"listening" not in said:
        line = await server.stderr.readline()
        assert line, f"The server ended: {said.decode()}; is it installed? make node"
        said += line
    yield f"http://127.0.0.1:{port}/mcp"
    if server.returncode is None:
        server.kill()
    await server.communicate()


async def test_http_server_lists_and_runs_its_tools(
    mcp: Engine, everything: str
) -> None:
    await offer(mcp, "all", url=everything)
    provider = asks("all__echo", message="over HTTP")
    events = dict(await mcp.run(provider))
    assert "over HTTP" in events["tool_call_completed"]["result"]
    assert len(provider.requests[0].tools) > 5


async def test_dead_server_fails_its_call_and_not_the_turn(mcp: Engine) -> None:
    await offer(mcp, "time", command=TIME)
    await mcp.run(asks("time__get_current_time", timezone="UTC"))
    [server] = mcp_client._servers[asyncio.get_running_loop()].values()
    await _kill_children(server)
    events = dict(await mcp.run(asks("time__get_current_time", timezone="UTC")))
    assert events["tool_call_failed"]["error"] in (
        "The tool could not be reached.",
        "There is no such tool.",
    )
    assert events["message_completed"]["text"] == "done"


async def _kill_children(server: mcp_client.McpServer) -> None:
    """End the server's process as a crash would."""
    mine = f"/proc/{os.getpid()}/task/{os.getpid()}/children"
    for child in Path(mine).read_text().split():
        command = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"mcp_server_time" in command:
            os.kill(int(child), signal.SIGKILL)


async def test_server_that_cannot_start_leaves_the_turn_alone(mcp: Engine) -> None:
    await offer(mcp, "gone", command=["/no/such/program"])
    events = dict(await mcp.run(asks("gone__x")))
    assert events["message_completed"]["text"] == "done"
