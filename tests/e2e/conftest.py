"""Servers in processes of their own, and providers with scripts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.client import Client
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY, LiveServer, make_template

TOML = """
[[provider]]
name = "primary"
kind = "openai"
base_url = "{base_url}"
api_key = "sk-test"
allow_private = true

[[price]]
provider = "primary"
model = "*"
input = "1.00"
output = "2.00"

[[agent]]
slug = "helper"
default = true
route = ["primary/gpt-x"]

[[key]]
name = "ci"
key = "{key}"
"""

Serve = Callable[..., LiveServer]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated data folder, made once."""
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as upstream:
        yield upstream


@pytest.fixture
def serve(template: Path, tmp_path: Path) -> Iterator[Serve]:
    """Start a server on a provider at ``base_url``; it is stopped with the test."""
    servers: list[LiveServer] = []

    def start(base_url: str, more: str = "", **env: str) -> LiveServer:
        folder = tmp_path / f"server-{len(servers)}"
        toml = TOML.format(base_url=base_url, key=KEY) + more
        server = LiveServer(template, folder, toml, **env)
        servers.append(server)
        server.__enter__()
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


@pytest.fixture
async def server(serve: Serve, upstream: FakeUpstream) -> LiveServer:
    """A server whose only provider is the upstream of the test."""
    return serve(upstream.base_url)


@pytest.fixture
async def client(server: LiveServer) -> AsyncIterator[Client]:
    async with Client(server.url, KEY) as client:
        yield client
