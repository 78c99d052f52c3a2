"""The embed's form in the dashboard, and the preview beside it."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route

from tests.e2e.browser.conftest import Shop
from tests.e2e.browser.dashboard import log_in

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(90)]

POLICY = "default-src 'self'; form-action 'self'; frame-ancestors 'none'"
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation',
  event => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


async def open_form(shop: Shop) -> Page:
    """The form of the shop's embed, under a policy without anything unsafe."""
    page = shop.visit.page
    await page.add_init_script(WATCH)
    await page.set_viewport_size({"width": 1400, "height": 1000})
    await log_in(shop)

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        headers = {**answer.headers, "content-security-policy": POLICY}
        await route.fulfill(response=answer, headers=headers)

    await page.route("**/admin/widget/embed/*/change/", hold)
    await page.goto(f"{shop.server.url}/admin/widget/embed/")
    await page.get_by_role("link", name="pk_shop").click()
    return page


async def test_what_is_written_shows_at_once_and_on_the_site(shop: Shop) -> None:
    page = await open_form(shop)
    preview = page.frame_locator("iframe[title='Preview of the widget']")
    await preview.get_by_text("Hello! How can I help?").wait_for()
    shop.visit.requests.clear()
    await page.get_by_label("Greeting").fill("**Ahoy!**")
    await preview.get_by_text("Ahoy!").wait_for()
    await page.get_by_label("Suggestions").fill("Sizes?\n\nReturns?\n")
    await preview.get_by_role("button", name="Returns?").wait_for()
    await page.get_by_label("Accent:", exact=True).fill("#e63946")
    await page.get_by_role("button", name="Use #e7414d").click()
    mark = preview.locator(".header .mark")
    colour = "node => getComputedStyle(node).backgroundColor"
    assert await mark.evaluate(colour) == "rgb(231, 65, 77)"
    await page.get_by_label("Theme").select_option("dark")
    await page.get_by_label("Position").select_option("left")
    await page.get_by_label("Corner radius").fill("6")
    panel = preview.locator(".panel")
    style = await panel.evaluate(
        "node => ['borderRadius', 'colorScheme']"
        ".map(name => getComputedStyle(node)[name])"
    )
    assert style == ["6px", "dark"]
    assert (await panel.evaluate("node => node.getBoundingClientRect().x")) < 100
    assert not [url for url in shop.visit.requests if "/v1/" in url]
    assert await page.evaluate("window.violations") == []
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_text("was changed successfully").wait_for()
    await shop.visit.open(shop.url)
    await page.get_by_role("button", name="Sizes?").wait_for()
    assert await page.locator("lantern-widget").get_attribute("data-theme") == "dark"
    assert not shop.visit.faults


async def test_views_sizes_and_the_line_for_the_site(shop: Shop) -> None:
    page = await open_form(shop)
    preview = page.frame_locator("iframe[title='Preview of the widget']")
    await page.get_by_role("button", name="Conversation").click()
    await preview.get_by_text("And if it does not fit?").wait_for()
    await page.get_by_label("Launcher label").fill("Ask us")
    await page.get_by_role("button", name="Closed").click()
    await preview.get_by_role("button", name="Ask us: Open chat").wait_for()
    await page.get_by_role("button", name="Phone").click()
    frame = page.locator("iframe[title='Preview of the widget']")
    assert await frame.evaluate("node => node.clientWidth") == 390
    snippet = await page.locator(".looks-snippet code").inner_text()
    assert snippet == (
        f'<script src="{shop.server.url}/widget.js" data-key="pk_shop" async></script>'
    )
    await page.get_by_role("button", name="Copy").click()
    await (
        page.get_by_role("button", name="Copied")
        .or_(page.get_by_role("button", name="Selected"))
        .wait_for()
    )
    assert not shop.visit.faults
