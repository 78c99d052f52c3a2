"""What a visitor does with replies and chats, against a live server."""

from __future__ import annotations

import hmac
import json

import pytest

from tests.e2e.browser.conftest import Shop, reply
from tests.fakes.client import Client
from tests.fakes.fake_upstream import Reply
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, call, calls, finish

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(90)]

REGISTER = """() => {
  window.Lantern.registerTool({
    name: "cart", description: "What is in the cart",
    inputSchema: {type: "object", properties: {}},
    run: () => ({items: ["boots"]}),
  });
}"""


async def test_rated_reply_can_be_had_again(shop: Shop) -> None:
    shop.upstream.enqueue(reply(["one"]), reply(["two"]))
    page = shop.visit.page
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.last_reply()
    async with page.expect_response("**/feedback") as rated:
        await page.get_by_role("button", name="Bad answer").click()
    assert (await rated.value).status == 200
    await page.get_by_role("button", name="Answer again").first.click()
    await shop.visit.replies.filter(has_text="two").wait_for()
    assert await shop.visit.replies.filter(visible=True).count() == 1
    await page.reload()
    await shop.visit.replies.filter(has_text="two").wait_for()
    assert await shop.visit.replies.filter(visible=True).count() == 1
    assert not shop.visit.faults


async def test_past_chat_is_opened_and_deleted(shop: Shop) -> None:
    shop.upstream.enqueue(reply(["tea"]), reply(["milk"]))
    page = shop.visit.page
    await shop.visit.open(shop.url)
    await shop.visit.say("first question")
    await shop.visit.last_reply()
    await page.get_by_role("button", name="New chat").click()
    await shop.visit.say("second question")
    await shop.visit.last_reply()
    await page.get_by_role("button", name="Your chats").click()
    await page.locator(".chats button", has_text="first question").click()
    await page.locator(".bubble", has_text="first question").wait_for()
    await page.get_by_role("button", name="Your chats").click()
    await page.get_by_role("button", name="Delete this chat").click()
    await page.get_by_role("button", name="Delete for good").click()
    await page.locator(".turn").wait_for(state="detached")
    async with Client(shop.server.url, KEY) as client:
        assert len((await client.get("/v1/sessions"))["data"]) == 1
    assert not shop.visit.faults


async def test_page_tool_answers_the_model(shop: Shop) -> None:
    cart = calls(call("{}", index=0, id="call_1", name="cart"))
    asks = Reply([cart, finish("tool_calls"), DONE])
    shop.upstream.enqueue(asks, reply(["You have boots."]))
    await shop.visit.open(shop.url)
    await shop.visit.page.evaluate(REGISTER)
    await shop.visit.say("what is in my cart?")
    assert await shop.visit.last_reply() == "You have boots."
    told = shop.upstream.requests[1].json["messages"][-1]
    assert (told["role"], json.loads(told["content"])) == ("tool", {"items": ["boots"]})
    assert not shop.visit.faults


SEEN = """
[[embed]]
key = "pk_shop"
agent = "helper"
origins = ["{origin}"]
page_tool = true
"""


async def test_model_sees_the_page_that_the_visitor_shows(shop: Shop) -> None:
    shop.server.provision(SEEN.format(origin=shop.site.origin))
    look = calls(call("{}", index=0, id="call_1", name="current_page"))
    shop.upstream.enqueue(
        Reply([look, finish("tool_calls"), DONE]), reply(["On the shop's page."])
    )
    await shop.visit.open(f"{shop.url}?session=secret#top")
    await shop.visit.page.get_by_role("button", name="Allow").click()
    await shop.visit.say("where am I?")
    assert await shop.visit.last_reply() == "On the shop's page."
    told = json.loads(shop.upstream.requests[1].json["messages"][-1]["content"])
    assert told["url"] == shop.url
    assert set(told) == {"title", "url", "selection"}
    assert not shop.visit.faults


SIGNED = """
[[embed]]
key = "pk_shop"
agent = "helper"
origins = ["{origin}"]
secret = "of-the-shop"
"""
IDENTIFY = "([userId, hash]) => window.Lantern.identify({userId, hash})"


async def test_named_visitors_see_only_their_own(shop: Shop) -> None:
    shop.server.provision(SIGNED.format(origin=shop.site.origin))
    shop.upstream.enqueue(*(reply([word]) for word in ("one", "two", "three")))
    page = shop.visit.page
    await shop.visit.open(shop.url)
    await shop.visit.say("nobody's question")
    await shop.visit.last_reply()
    # What was said before a name was known goes with the first one, and with no other.
    for name, question, shown in (
        ("alice", "of alice", ["nobody's question", "of alice"]),
        ("bob", "of bob", ["of bob"]),
    ):
        signed = hmac.new(b"of-the-shop", name.encode(), "sha256").hexdigest()
        async with page.expect_response("**/bootstrap") as named:
            await page.evaluate(IDENTIFY, [name, signed])
        assert (await named.value).status == 200
        if name == "bob":
            await page.locator(".turn").first.wait_for(state="detached")
        await shop.visit.say(question)
        await page.locator(".turn").nth(len(shown) - 1).wait_for()
        await shop.visit.last_reply()
        assert await page.locator(".bubble").all_inner_texts() == shown
    assert not shop.visit.faults
