"""Real MCP servers in a session: one over stdio, one over streamable HTTP."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady
from sessions_app.domain.tooling import ToolConfig, ToolContext
from sessions_app.models import Tool
from sessions_app.store.db import in_thread
from sessions_app.tools import mcp_client
from sessions_app.tools.mcp_tool import close_servers
from sessions_app.tools.registry import load_tools
from tests.engine.conftest import Engine
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.ports import free_port
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


CONTEXT = ToolContext("sess_1", "tur_1", "call_1")


@pytest.fixture
async def servers() -> AsyncIterator[None]:
    yield
    await close_servers()


@pytest.fixture
async def silent(servers: None) -> AsyncIterator[str]:
    """An address that takes connections and never says a word."""
    async with FakeUpstream() as server:
        server.enqueue(Reply([HOLD], framing="raw"))
        yield f"{server.origin}/mcp"


def config(name: str, **settings: Any) -> ToolConfig:
    return ToolConfig(name, "mcp", settings=settings, allow_private=True)


# They were asked one after the other, and each turn waited for all of them again.
async def test_dead_servers_are_waited_for_together_and_once(
    silent: str, settings: Any
) -> None:
    settings.LANTERN = {"mcp_wait_s": 3.0}
    dead = [config(f"dead{n}", url=silent) for n in range(4)]
    begun = time.monotonic()
    tools = await load_tools([*dead, config("time", command=TIME)])
    assert time.monotonic() - begun < 6
    assert sorted(tools) == ["time__convert_time", "time__get_current_time"]
    begun = time.monotonic()
    tools = await load_tools([*dead, config("time", command=TIME)])
    assert time.monotonic() - begun < 2
    assert len(tools) == 2


# The end of a connection fails its calls, and they ended the next one, too.
async def test_late_failure_leaves_the_next_connection_open(servers: None) -> None:
    server = mcp_client._server_of(config("time", command=TIME))
    old, _ = await server.connected()
    server.give_up(old, ConnectionError("broken"))
    server._retry_at = 0.0
    new, client = await server.connected()
    server.give_up(old, ConnectionError("a call that was under way"))
    await asyncio.wait([old.task], timeout=10)
    assert await server.connected() == (new, client)
    tool = next(each for each in await server.tools() if "current" in each.spec.name)
    assert "UTC" in await tool.call({"timezone": "UTC"}, CONTEXT)


async def test_slow_server_is_offered_once_it_stands(
    servers: None, settings: Any
) -> None:
    settings.LANTERN = {"mcp_wait_s": 0.1}
    late = [config("time", command=["sh", "-c", f"sleep 1; exec {' '.join(TIME)}"])]
    offers = [bool(await load_tools(late))]
    async with asyncio.timeout(20):
        while not offers[-1]:
            await asyncio.sleep(0.1)
            offers.append(bool(await load_tools(late)))
    assert len(offers) > 1


# One after the other, they held up the end by ten seconds each.
async def test_servers_that_end_slowly_are_waited_for_together(servers: None) -> None:
    all_asked = asyncio.Event()
    asked: list[str] = []

    class Slow(mcp_client.McpServer):
        async def close(self) -> None:
            asked.append(self._config.name)
            if len(asked) == 2:
                all_asked.set()
            await asyncio.wait_for(all_asked.wait(), 5)

    mine = mcp_client._servers.setdefault(asyncio.get_running_loop(), {})
    for name in ("one", "two"):
        mine[name] = Slow(config(name, command=TIME))
    await close_servers()
    assert sorted(asked) == ["one", "two"]
