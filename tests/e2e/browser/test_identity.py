"""Signing in, signing out and the puzzle, in a browser against a live server."""

from __future__ import annotations

import json
import time

import jwt
import pytest
from playwright.async_api import Locator, Page

from tests.e2e.browser.conftest import EMBED, Shop, reply

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(60)]

SECRET = "a secret of the shop's own, 32 characters or more"
SECRET_LINE = f'secret = "{SECRET}"\n'


def provision(shop: Shop, lines: str) -> None:
    shop.server.provision(EMBED.format(origin=shop.site.origin) + SECRET_LINE + lines)


def reply_of(page: Page, words: str) -> Locator:
    return page.locator(".markdown").get_by_text(words)


async def identify(shop: Shop, user_id: str | None) -> None:
    identity = None
    if user_id is not None:
        claims = {
            "sub": user_id,
            "exp": int(time.time()) + 300,
            "name": user_id.title(),
        }
        identity = {"token": jwt.encode(claims, SECRET, algorithm="HS256")}
    await shop.visit.page.evaluate(f"window.Lantern.identify({json.dumps(identity)})")


# Logging out and in as another user in the same browser.
async def test_each_user_has_their_own_conversation(shop: Shop) -> None:
    provision(shop, "")
    for words in ("to nobody", "to alice", "to bob"):
        shop.upstream.enqueue(reply([words]))
    page = shop.visit.page
    await shop.visit.open(shop.url)
    await shop.visit.say("before signing in")
    assert await shop.visit.last_reply() == "to nobody"
    await identify(shop, "alice")
    await shop.visit.say("as alice")
    await reply_of(page, "to alice").wait_for()
    assert await page.locator(".turn").count() == 2
    await identify(shop, "bob")
    await page.locator(".turn").first.wait_for(state="detached")
    await shop.visit.say("as bob")
    await reply_of(page, "to bob").wait_for()
    assert await page.locator(".turn").count() == 1
    await identify(shop, "alice")
    await reply_of(page, "to alice").wait_for()
    await reply_of(page, "to nobody").wait_for()
    assert not await reply_of(page, "to bob").is_visible()


async def test_nobody_without_a_name_may_chat(shop: Shop) -> None:
    provision(shop, 'identity = "required"\n')
    shop.upstream.enqueue(reply(["to alice"]))
    page = shop.visit.page
    await page.goto(shop.url)
    await page.get_by_role("button", name="Open chat").click()
    await page.locator(".notice-text").get_by_text("Please sign in").wait_for()
    await identify(shop, "alice")
    await shop.visit.say("hello")
    assert await shop.visit.last_reply() == "to alice"


async def test_new_visitor_solves_the_puzzle_unseen(shop: Shop) -> None:
    provision(shop, 'proof_of_work = "on"\n')
    shop.upstream.enqueue(reply(["hello"]))
    await shop.visit.open(shop.url)
    await shop.visit.say("hi")
    assert await shop.visit.last_reply() == "hello"


# The tag has one attribute for a proof; a token stands in it as a hash does.
async def test_tag_with_a_token_says_who_the_user_is(shop: Shop) -> None:
    provision(shop, 'identity = "required"\n')
    shop.upstream.enqueue(reply(["to alice"]))
    claims = {"sub": "alice", "exp": int(time.time()) + 300}
    token = jwt.encode(claims, SECRET, algorithm="HS256")
    await shop.visit.page.add_init_script(
        f"""new MutationObserver(() => {{
            const tag = document.querySelector("script[data-key]");
            if (tag) tag.dataset.userId = "alice";
            if (tag) tag.dataset.userHash = "{token}";
        }}).observe(document, {{childList: true, subtree: true}});"""
    )
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    assert await shop.visit.last_reply() == "to alice"
