"""``manage.py doctor`` against a server, straight and through bad proxies."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.e2e.conftest import Serve
from tests.fakes.bad_proxy import BadProxy
from tests.fakes.client import Client
from tests.fakes.live_server import KEY, ROOT, LiveServer, environment

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

BEATS = {"LANTERN_HEARTBEAT_S": "2"}


@pytest.fixture
def deployed(serve: Serve) -> LiveServer:
    return serve("http://127.0.0.1:9/v1", **BEATS)


async def doctor(server: LiveServer, *arguments: str) -> tuple[int, str]:
    """Its exit status, and what it says."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "manage.py", "doctor", *arguments],
        cwd=ROOT,
        env=environment(server.folder, **server.env),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


async def findings(server: LiveServer, url: str, hold: str) -> dict[str, Any]:
    status, said = await doctor(server, url, "--json", "--hold", hold)
    found = {each["check"]: each for each in json.loads(said)}
    assert status == any(each["status"] == "failed" for each in found.values())
    return found


async def test_good_deployment_passes(deployed: LiveServer) -> None:
    status, said = await doctor(deployed, deployed.url, "--hold", "20")
    assert status == 0, said
    for check in (
        "ready",
        "buffering",
        "resume",
        "cancel",
        "quiet streams",
        "websocket",
    ):
        assert f"ok       {check}" in said
    async with Client(deployed.url, KEY) as client:
        assert (await client.get("/health"))["providers"].keys() == {"primary"}


async def test_proxy_that_buffers_is_found(deployed: LiveServer) -> None:
    async with BadProxy(deployed.port, hold_back_s=1.0) as proxy:
        found = await findings(deployed, f"http://127.0.0.1:{proxy.port}", "3")
    assert found["buffering"]["status"] == "failed"
    assert "proxy_buffering off" in found["buffering"]["advice"]
    assert found["resume"]["status"] == "ok"


async def test_proxy_that_cuts_silence_is_found(deployed: LiveServer) -> None:
    async with BadProxy(deployed.port, cut_s=1.0) as proxy:
        found = await findings(deployed, f"http://127.0.0.1:{proxy.port}", "8")
    assert found["quiet streams"]["status"] == "failed"
    assert "proxy_read_timeout" in found["quiet streams"]["advice"]


async def test_missing_server_is_said(deployed: LiveServer) -> None:
    deployed.kill()
    found = await findings(deployed, deployed.url, "3")
    assert found["ready"]["status"] == "failed"
    assert found["migrations"]["status"] == "ok"
