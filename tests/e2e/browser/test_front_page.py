"""A first start, as somebody sees it who has just typed ``make run``."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.fakes.browser import Visit
from tests.fakes.live_server import LiveServer, manage

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(60)]


async def test_front_page_shows_tokens_and_itself(
    template: Path, tmp_path: Path, browser: Browser
) -> None:
    server = LiveServer(template, tmp_path / "data")
    said = manage(server.folder, "setup", "--port", str(server.port))
    with server:
        visit = await Visit.begin(browser)
        await visit.open(f"{server.url}/")
        await visit.say("/long please")
        await visit.page.get_by_role("button", name="Stop").wait_for()
        first = await visit.replies.last.inner_text()
        await visit.page.wait_for_timeout(500)
        assert len(await visit.replies.last.inner_text()) > len(first)
        await visit.page.get_by_role("button", name="Stop").click()
        assert "/long please" in await visit.last_reply()
        await visit.page.get_by_role("button", name="Allow").click()
        await visit.say("/tool current_page")
        assert f"{server.url}/" in await visit.last_reply()
    assert "the built-in demo" in said
    assert not visit.faults
    assert all(url.startswith(server.url) for url in visit.requests)
