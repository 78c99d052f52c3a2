"""A shop with the widget on it, a visitor in a browser, and a provider behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser

from tests.e2e.conftest import Serve
from tests.fakes.browser import HostSite, Visit, chromium, html, script_tag
from tests.fakes.client import Client
from tests.fakes.fake_upstream import FakeUpstream, Reply, Step
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.openai_events import DONE, finish, text

EMBED = """
[[embed]]
key = "pk_shop"
agent = "helper"
origins = ["{origin}"]
"""
STAFF_KEY = """
[[key]]
name = "all"
key = "{key}"
scopes = ["sessions", "sessions.all"]
"""


def reply(pieces: Iterable[str], pause_s: float = 0.0) -> Reply:
    """A reply of these pieces at a pace."""
    steps: list[Step] = []
    for piece in pieces:
        steps += [text(piece), pause_s]
    return Reply([*steps, finish(), DONE])


@dataclass
class Shop:
    """Everything that a test of the widget needs."""

    site: HostSite
    server: LiveServer
    upstream: FakeUpstream
    visit: Visit

    @property
    def url(self) -> str:
        return f"{self.site.origin}/"

    @property
    def foreign_requests(self) -> list[str]:
        """What the page asked of anybody but its own site and Lantern."""
        own = (self.site.origin, self.server.url, "data:", "blob:")
        return [url for url in self.visit.requests if not url.startswith(own)]

    async def stored_replies(self) -> list[str]:
        """The replies of the newest session, as stored."""
        async with Client(self.server.url, KEY) as client:
            page = await client.get("/v1/sessions")
            messages = await client.messages(page["data"][0]["id"])
        return [each["content"] for each in messages if each["role"] == "assistant"]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest.fixture
async def site() -> AsyncIterator[HostSite]:
    async with HostSite() as site:
        yield site


@pytest.fixture
async def shop(
    site: HostSite, serve: Serve, upstream: FakeUpstream, browser: Browser
) -> Shop:
    more = EMBED.format(origin=site.origin)
    server = serve(upstream.base_url, more)
    server.provision(STAFF_KEY.format(key=KEY).replace('"all"', '"ci"'))
    site.pages["/"] = html(script_tag(server.url))
    return Shop(site, server, upstream, await Visit.begin(browser))
