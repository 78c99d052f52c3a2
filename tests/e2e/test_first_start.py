"""From nothing to a server, with one command."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import (
    ROOT,
    LiveServer,
    environment,
    free_port,
    manage,
)

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

MODELS = [f"sessions_app.{name}" for name in ("Agent", "ApiKey", "Provider", "Session")]
MODELS += ["widget.Embed", "auth.User"]


COUNT = """
from django.apps import apps
print([apps.get_model(n).objects.count() for n in "{names}".split()])
"""


def counts(folder: Path) -> str:
    """How many rows there are of what a first start makes."""
    code = COUNT.format(names=" ".join(MODELS))
    return manage(folder, "shell", "--no-imports", "-c", code)


def curl_line(said: str) -> str:
    return next(line for line in said.splitlines() if line.startswith("curl"))


def test_second_setup_makes_nothing_twice(template: Path, tmp_path: Path) -> None:
    server = LiveServer(template, tmp_path / "data")
    first = manage(server.folder, "setup")
    made = counts(server.folder)
    second = manage(server.folder, "setup")
    assert counts(server.folder) == made
    assert first == second


def test_secrets_are_for_their_owner_alone(template: Path, tmp_path: Path) -> None:
    server = LiveServer(template, tmp_path / "data")
    manage(server.folder, "setup")
    for name in ("first_start.json", "secret.key"):
        assert (server.folder / name).stat().st_mode & 0o777 == 0o600


def test_printed_curl_line_streams_when_pasted(template: Path, tmp_path: Path) -> None:
    server = LiveServer(template, tmp_path / "data")
    said = manage(server.folder, "setup", "--port", str(server.port))
    with server:
        line = curl_line(said)
        pasted = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert pasted.returncode == 0
    assert pasted.stdout.count("event: message_delta") > 20
    assert "event: message_completed" in pasted.stdout


def test_changed_password_is_not_printed(template: Path, tmp_path: Path) -> None:
    server = LiveServer(template, tmp_path / "data")
    password = re.search(r"password: (\S+)", manage(server.folder, "setup"))
    assert password is not None
    code = (
        "from django.contrib.auth.models import User;"
        "u = User.objects.get(); u.set_password('another'); u.save()"
    )
    manage(server.folder, "shell", "--no-imports", "-c", code)
    assert "password: (changed)" in manage(server.folder, "setup")


def test_environment_key_is_found_and_renewed(template: Path, tmp_path: Path) -> None:
    server = LiveServer(template, tmp_path / "data")
    models = Reply([json.dumps({"data": [{"id": "m-1"}]}).encode()], framing="length")
    with FakeUpstream.in_thread() as upstream:
        upstream.enqueue(models)
        for key in ("sk-wrong", "sk-right"):
            own = {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": upstream.base_url}
            said = manage(server.folder, "setup", **own)
        code = (
            "from sessions_app.models import Provider;"
            "print(Provider.objects.get(name='openai').api_key)"
        )
        kept = manage(server.folder, "shell", "--no-imports", "-c", code)
    assert "Model       openai/m-1" in said
    assert upstream.requests[0].headers["authorization"] == "Bearer sk-wrong"
    assert kept.strip() == "sk-right"


def test_make_run_serves_within_seconds(tmp_path: Path) -> None:
    assert (ROOT / ".venv/.run-stamp").exists(), "Run: make deps"
    port = free_port()
    env = environment(tmp_path / "data", PORT=str(port))
    begin = time.monotonic()
    log = (tmp_path / "log").open("wb")
    run = subprocess.Popen(
        ["make", "run"], cwd=ROOT, env=env, stdout=log, stderr=log, process_group=0
    )
    try:
        while not answers(port):
            assert run.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.05)
        took_s = time.monotonic() - begin
    finally:
        os.killpg(run.pid, signal.SIGTERM)
        run.wait(20)
        log.close()
    assert took_s < 10
    said = (tmp_path / "log").read_text()
    assert f"Listening on http://127.0.0.1:{port}/" in said
    assert "Traceback" not in said


def answers(port: int) -> bool:
    """Whether the front page is there."""
    try:
        page = httpx.get(f"http://127.0.0.1:{port}/", trust_env=False)
    except httpx.TransportError:
        return False
    return "Lantern is running" in page.text
