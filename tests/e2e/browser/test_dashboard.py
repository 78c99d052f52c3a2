"""The operator watches a conversation live, and takes part."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.e2e.browser.conftest import Shop, reply
from tests.e2e.browser.dashboard import log_in, open_conversation
from tests.fakes.browser import Visit
from tests.fakes.client import Client
from tests.fakes.live_server import KEY

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(90)]

WORDS = [f"word{number} " for number in range(40)]


async def test_operator_watches_and_answers(shop: Shop) -> None:
    shop.upstream.enqueue(reply(WORDS, 0.05), reply(["Written ", "by the model."], 0.1))
    async with Client(shop.server.url, KEY) as client:
        session_id = await client.create(title="Order 4711")
        await log_in(shop)
        await open_conversation(shop, "Order 4711")
        await client.post(session_id, "Where is my order?")
        stages = await shop.visit.stages()
        assert len(stages) >= 5
        assert await shop.visit.last_reply() == "".join(WORDS).strip()
        await shop.visit.page.get_by_text("Where is my order?").first.wait_for()
        await answer(shop.visit, "It left yesterday.")
        messages = await client.messages(session_id)
    await shows_the_list_whole(shop.visit.page)
    assert [each["content"] for each in messages[2:]] == [
        "It left yesterday.",
        "Written by the model.",
    ]
    assert not shop.visit.faults
    assert not shop.foreign_requests


async def shows_the_list_whole(page: Page) -> None:
    """Beside its filters, on a screen of 1280 pixels."""
    await page.set_viewport_size({"width": 1280, "height": 800})
    await page.get_by_role("link", name="Conversations").first.click()
    await page.get_by_role("link", name="Order 4711").first.wait_for()
    # A visitor's name is longer than that of a key.
    owner = page.locator("td.field-owner").first
    await owner.evaluate(f"node => node.textContent = 'visitor:pk_shop:{'x' * 22}'")
    hidden = "node => node.scrollWidth - node.clientWidth"
    assert await page.locator(".results").evaluate(hidden) == 0


async def answer(visit: Visit, text: str) -> None:
    """Write into the conversation, and see the model's reply grow."""
    await visit.page.get_by_role("textbox", name="Reply").fill(text)
    await visit.page.get_by_role("button", name="Send").click()
    await visit.page.locator(".turn").nth(1).wait_for()
    assert await visit.last_reply() == "Written by the model."


async def test_dashboard_needs_a_login(shop: Shop) -> None:
    async with Client(shop.server.url, KEY) as client:
        session_id = await client.create()
    page = shop.visit.page
    path = f"/admin/sessions_app/session/{session_id}/change/"
    await page.goto(f"{shop.server.url}{path}")
    assert "/admin/login/" in page.url


async def test_form_of_a_tool_says_where_its_json_is_wrong(shop: Shop) -> None:
    page = shop.visit.page
    await log_in(shop)
    await page.goto(f"{shop.server.url}/admin/sessions_app/tool/add/")
    label = page.locator("label", has_text="May be at a private address")
    # It wrapped, in a column as wide as those of labels with a field beside them.
    assert (await label.evaluate("node => node.getClientRects().length")) == 1
    assert (await label.evaluate("node => node.offsetHeight")) < 25
    await page.get_by_label("Name").fill("weather")
    await page.get_by_label("Address", exact=False).first.fill("https://a.example/x")
    await page.get_by_label("Body").fill('{\n  "city": "{city}",\n}')
    await page.get_by_role("button", name="Save", exact=True).click()
    await page.get_by_text("line 3, column 1 at '}'").wait_for()
    assert await page.get_by_label("Body").input_value() == '{\n  "city": "{city}",\n}'
    assert not shop.visit.faults
