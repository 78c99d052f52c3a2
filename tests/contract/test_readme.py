"""Every block of code in the README does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.browser import HostSite, Visit, chromium, html
from tests.fakes.live_server import (
    ROOT,
    LiveServer,
    environment,
    make_template,
    manage,
)

pytestmark = [pytest.mark.live, pytest.mark.timeout(90)]

BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
LOCAL = "127.0.0.1:8000"

# Streams have no end, and `make run` does not return: what it sets up is the same.
PRELUDE = f"""
set -eu
curl() {{ command curl --max-time 4 "$@" || [ $? = 28 ]; }}
make() {{ [ "$1" = run ]; {sys.executable} manage.py setup; }}
"""


def blocks(language: str) -> list[str]:
    return [code for name, code in BLOCKS if name == language]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    """A first start, not yet served."""
    template = make_template(tmp_path / "template")
    server = LiveServer(template, tmp_path / "data")
    server.said = manage(server.folder, "setup", "--port", str(server.port))
    yield server


def run(server: LiveServer, *scripts: str, **env: str) -> str:
    """Bash blocks, one after the other, on this server instead of the usual one."""
    key = re.search(r"lk_\w+", server.said)
    assert key is not None
    script = "\n".join(scripts)
    script = script.replace(LOCAL, f"127.0.0.1:{server.port}")
    script = script.replace("lk_the_key_that_make_run_printed", key[0])
    script = script.replace(".venv/bin/python", sys.executable)
    done = subprocess.run(
        ["bash", "-c", PRELUDE + script],
        cwd=ROOT,
        env=environment(server.folder, PORT=str(server.port), **env),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_block_has_its_test() -> None:
    kinds = [name for name, _ in BLOCKS]
    assert sorted(set(kinds)) == ["bash", "html", "text", "toml"]
    assert kinds.count("bash") == 6
    assert kinds.count("html") == kinds.count("text") == kinds.count("toml") == 1


def test_rest_blocks_give_a_stream(server: LiveServer) -> None:
    start, rest, stream = blocks("bash")[:3]
    assert start.strip() == "make run"
    with server:
        said = run(server, start, rest, stream)
    assert '"turnId":"tur_' in said
    events = [line for line in said.splitlines() if line.startswith("event: ")]
    assert events[:3] == [
        "event: session.status_running",
        "event: turn_started",
        "event: message_delta",
    ]
    sample = blocks("text")[0].splitlines()
    assert sample[0] in said
    assert sample[1] in said
    pattern = re.escape(sample[2]).replace("…", r"\w+").replace(r"\#\#\ ", r"[^\"]+")
    assert re.search(pattern, said)


def test_environment_blocks_find_the_provider(server: LiveServer) -> None:
    own, local = blocks("bash")[3:5]
    assert "Model       openai/gpt-4.1-mini" in run(server, own)
    assert "Model       openai/" in run(server, local)


def test_file_block_can_be_provisioned(server: LiveServer) -> None:
    file = ROOT / "lantern.toml"
    assert not file.exists()
    file.write_text(blocks("toml")[0])
    try:
        said = run(server, blocks("bash")[5], OPENAI_API_KEY="sk-test")
        again = run(server, blocks("bash")[5], OPENAI_API_KEY="sk-test")
    finally:
        file.unlink()
    assert "pk_shop" in said
    assert "created" not in again


@pytest.mark.browser
async def test_script_tag_gives_a_chat(server: LiveServer) -> None:
    tag = blocks("html")[0].replace(LOCAL, f"127.0.0.1:{server.port}")
    async with HostSite() as site, chromium() as browser:
        site.pages["/"] = html(tag)
        embed = '[[embed]]\nkey = "pk_demo"\nagent = "assistant"\n'
        server.provision(f'{embed}origins = ["{site.origin}"]')
        with server:
            visit = await Visit.begin(browser)
            await visit.open(f"{site.origin}/")
            await visit.say("Hello from the README")
            assert "Hello from the README" in await visit.last_reply()
    assert not visit.faults


def test_both_commands_exist() -> None:
    for target in ("run", "test"):
        dry = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True)
        assert dry.returncode == 0
    assert os.access(ROOT / ".ci/run", os.X_OK)
