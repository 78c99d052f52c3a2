"""Real nginx and Caddy, with the very blocks of the docs, in front of a server."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pytest

from tests.fakes.client import Client, check_turn
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY, ROOT, LiveServer
from tests.fakes.openai_events import DONE, finish, text
from tests.fakes.ports import answers, free_port
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(90)]

Configure = Callable[[str, int, Path], list[str]]
PAGES = ["proxy.md", "scale.md"]

NGINX = """
daemon off;
error_log stderr;
pid {folder}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {block}
}}
"""


def block_of(page: str, language: str) -> str:
    """The page's block in that language."""
    text = (ROOT / "docs" / "howto" / page).read_text()
    found = re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)
    assert found, f"{page} has no block for {language}"
    return found[1]


def nginx(block: str, port: int, folder: Path) -> list[str]:
    block = block.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    path = folder / "nginx.conf"
    path.write_text(NGINX.format(folder=folder, block=block))
    return ["nginx", "-p", str(folder), "-c", str(path)]


def caddy(block: str, port: int, folder: Path) -> list[str]:
    block = block.replace("chat.example.com", f"http://127.0.0.1:{port}")
    path = folder / "Caddyfile"
    path.write_text("{\n    admin off\n}\n" + block)
    return ["caddy", "run", "--config", str(path), "--adapter", "caddyfile"]


@contextmanager
def proxied(
    configure: Configure, block: str, server: LiveServer, folder: Path
) -> Iterator[int]:
    """The port of the proxy, while it runs."""
    port = free_port()
    block = re.sub(r"127\.0\.0\.1:800\d", f"127.0.0.1:{server.port}", block)
    homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(
            configure(block, port, folder),
            stdout=log,
            stderr=log,
            env={**os.environ, **homes},
        )
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


# C25: nothing is held back, whatever the proxy would like to keep.
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("configure", [nginx, caddy])
async def test_documented_proxy_passes_each_delta_at_once(
    configure: Configure,
    page: str,
    server: LiveServer,
    upstream: FakeUpstream,
    tmp_path: Path,
) -> None:
    upstream.enqueue(Reply([text("Hel"), 1.5, text("lo"), finish(), DONE]))
    block = block_of(page, configure.__name__)
    came: list[float] = []
    events = []
    with proxied(configure, block, server, tmp_path) as port:
        await until(lambda: answers(port), 20)
        async with Client(f"http://127.0.0.1:{port}", KEY) as client:
            posted = await client.post(await client.create())
            async with aclosing(
                client.events(posted.session_id, posted.cursor)
            ) as stream:
                async for event in stream:
                    if event.kind == "message_delta":
                        came.append(time.monotonic())
                    events += [event] if event.id else []
                    if event.kind == "session.status_idle":
                        break
    check_turn(events)
    assert came[1] - came[0] > 0.5
