"""Away and back again: one widget, and the whole text, whatever happened meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from playwright.async_api import expect

from tests.e2e.browser.conftest import Shop, reply
from tests.fakes.browser import Visit, chromium, html

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(90)]

WORDS = [f"word{number} " for number in range(80)]
WHOLE = "".join(WORDS).strip()
# What sites that navigate without a load do: the next body, later a copy of this one.
LEAVE = """() => {
  window.copy = document.body.cloneNode(true);
  document.documentElement.replaceChild(document.createElement("body"), document.body);
}"""
# The driver keeps every tab in view; in a browser all but one are out of sight.
ASIDE = """
Object.defineProperty(document, 'visibilityState', {
  get: () => window.isAside ? 'hidden' : 'visible',
});
window.putAside = (isAside) => {
  window.isAside = isAside;
  document.dispatchEvent(new Event('visibilitychange'));
};
"""
COME_BACK = "() => document.documentElement.replaceChild(window.copy, document.body)"


async def check(visit: Visit) -> None:
    """One widget, one turn, nothing missing and nothing twice."""
    assert await visit.last_reply() == WHOLE
    assert await visit.page.locator("lantern-widget").count() == 1
    assert await visit.page.locator(".turn").count() == 1
    assert await visit.page.locator(".bubble").all_inner_texts() == ["hello"]
    assert not visit.faults


async def begin(shop: Shop, pause_s: float) -> None:
    """A reply that is being written."""
    shop.upstream.enqueue(reply(WORDS, pause_s))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.page.get_by_text("word3").wait_for()


async def test_page_from_the_cache_of_the_back_button(shop: Shop) -> None:
    # The driver turns this cache off, so that going back would only load anew.
    async with chromium(["--disable-back-forward-cache"]) as browser:
        visit = await Visit.begin(browser)
        shop = replace(shop, visit=visit)
        shop.site.pages["/other"] = html("Another page")
        await begin(shop, 0.03)
        await visit.page.evaluate("window.isThisVeryPage = true")
        await visit.page.goto(f"{shop.site.origin}/other")
        await asyncio.sleep(0.5)
        # No load comes: the page is there as it was.
        await visit.page.go_back(wait_until="commit")
        await check(visit)
        assert await visit.page.evaluate("window.isThisVeryPage") is True


async def test_minute_of_sleep_without_a_network(shop: Shop) -> None:
    await shop.visit.page.clock.install()
    await begin(shop, 0.02)
    await shop.visit.context.set_offline(True)
    await shop.visit.page.clock.fast_forward(60_000)
    await asyncio.sleep(2)
    assert await shop.stored_replies() == ["".join(WORDS)]
    await shop.visit.context.set_offline(False)
    await shop.visit.page.clock.run_for(5_000)
    await check(shop.visit)


async def test_each_of_two_tabs_has_the_whole_text(shop: Shop) -> None:
    await begin(shop, 0.04)
    (other,) = await more_tabs(shop, 1)
    await asyncio.gather(check(shop.visit), check(other))
    assert len(shop.upstream.requests) == 1


async def test_each_of_seven_tabs_has_the_whole_text(shop: Shop) -> None:
    # A browser has six connections to a host: streams must not hold them all.
    await shop.visit.context.add_init_script(ASIDE)
    await begin(shop, 0.15)
    tabs = [shop.visit]
    for _ in range(6):
        await tabs[-1].page.evaluate("putAside(true)")
        tabs += await more_tabs(shop, 1)
        await tabs[-1].page.get_by_text("word3 ").wait_for()
    assert await tabs[-1].page.locator(".writing").count() == 1
    shop.visit.context.set_default_timeout(20_000)
    for visit in reversed(tabs):
        await visit.page.evaluate("putAside(false)")
        await check(visit)
        await visit.page.evaluate("putAside(true)")
    assert len(shop.upstream.requests) == 1


async def more_tabs(shop: Shop, number: int) -> list[Visit]:
    tabs = []
    for _ in range(number):
        page = await shop.visit.context.new_page()
        tab = Visit(shop.visit.context, page)
        page.on("pageerror", lambda error, tab=tab: tab.faults.append(str(error)))
        await tab.open(shop.url)
        tabs.append(tab)
    return tabs


async def test_body_that_is_swapped_and_brought_back(shop: Shop) -> None:
    await begin(shop, 0.04)
    page = shop.visit.page
    await shop.visit.message.fill("a draft")
    for step in (LEAVE, COME_BACK, LEAVE, COME_BACK):
        await page.evaluate(step)
        await asyncio.sleep(0.2)
    await expect(shop.visit.message).to_have_value("a draft")
    await check(shop.visit)
