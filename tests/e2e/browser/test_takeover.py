"""A visitor writes in the widget; a person of the staff answers in the dashboard."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import Browser, expect

from tests.e2e.browser.conftest import Shop, reply
from tests.e2e.browser.dashboard import log_in, open_conversation
from tests.fakes.browser import Visit

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(90)]

WORDS = [f"word{number} " for number in range(400)]


@pytest.fixture
async def desk(shop: Shop, browser: Browser) -> Visit:
    """The dashboard, logged in, in a browser profile of its own."""
    visit = await Visit.begin(browser)
    await log_in(replace(shop, visit=visit))
    return visit


async def test_person_takes_over_answers_and_gives_back(
    shop: Shop, desk: Visit
) -> None:
    shop.upstream.enqueue(reply(WORDS, 0.05), reply(["The agent", " again."]))
    visitor, page = shop.visit, desk.page
    await visitor.open(shop.url)
    await visitor.say("I want a person")
    await visitor.page.get_by_text("word3").first.wait_for()
    await open_conversation(replace(shop, visit=desk), "I want a person")

    await page.get_by_role("button", name="Take over").click()
    await page.get_by_text("desk answers; the agent is silent.").wait_for()
    await expect(page.get_by_role("textbox", name="Reply")).to_be_focused()
    await visitor.page.locator(".remark", has_text="Stopped").wait_for()

    await visitor.say("Are you there?")
    await visitor.page.locator(".remark", has_text="desk has your message").wait_for()
    await page.get_by_text("Are you there?").wait_for()
    await answer(desk, "Yes, **Anna** here.")
    said = visitor.page.get_by_role("article", name="desk").last
    await expect(said.locator(".markdown")).to_have_text("Yes, Anna here.")
    await expect(said.locator(".author")).to_be_visible()
    await expect(visitor.page.locator(".remark", has_text="has your")).to_be_hidden()

    await page.get_by_role("button", name="Give back").click()
    await page.get_by_text("The agent answers").wait_for()
    await visitor.say("Thank you!")
    assert await visitor.last_reply() == "The agent again."
    assert len(shop.upstream.requests) == 2
    assert not visitor.faults
    assert not desk.faults


async def test_reply_in_a_closed_panel_shows_on_the_launcher(
    shop: Shop, desk: Visit
) -> None:
    shop.upstream.enqueue(reply(["Hello."]))
    visitor = shop.visit
    await visitor.open(shop.url)
    await visitor.say("hello")
    assert await visitor.last_reply() == "Hello."
    await open_conversation(replace(shop, visit=desk), "hello")
    await desk.page.get_by_role("button", name="Take over").click()
    await desk.page.get_by_text("the agent is silent").wait_for()
    await answer(desk, "One.")
    await visitor.page.get_by_text("One.", exact=True).wait_for()
    await visitor.page.get_by_role("button", name="Close chat").first.click()
    await answer(desk, "Two.")
    badge = visitor.page.locator(".badge")
    await expect(badge).to_have_text("1")
    await visitor.page.reload()
    await visitor.launcher.click()
    await visitor.page.get_by_text("Two.", exact=True).wait_for()
    names = visitor.page.locator(".of-person > .author")
    await expect(names).to_have_text(["desk", "desk"])


async def answer(desk: Visit, text: str) -> None:
    await desk.page.get_by_role("textbox", name="Reply").fill(text)
    await desk.page.get_by_role("button", name="Send").click()
