"""One script tag on somebody else's site, against a live server."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.e2e.browser.conftest import Shop, reply
from tests.fakes.browser import Visit, html, script_tag
from tests.fakes.fake_upstream import HOLD, Reply
from tests.fakes.openai_events import text

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(60)]

WORDS = [f"word{number} " for number in range(60)]
WHOLE = "".join(WORDS).strip()


async def test_tokens_appear_one_by_one(shop: Shop) -> None:
    shop.upstream.enqueue(reply(WORDS[:30], 0.05))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    stages = await shop.visit.stages()
    assert len(stages) >= 8
    assert all(late.startswith(early) for early, late in pairwise(stages))
    assert await shop.visit.last_reply() == "".join(WORDS[:30]).strip()
    assert not shop.visit.faults
    assert not shop.foreign_requests


async def test_no_address_holds_a_credential(shop: Shop) -> None:
    shop.upstream.enqueue(reply(["one"]))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    assert await shop.visit.last_reply() == "one"
    own = [url for url in shop.visit.requests if url.startswith(shop.server.url)]
    assert any("/events" in url for url in own)
    assert not [url for url in own if "lv_" in url or "lt_" in url]


async def test_reload_in_mid_word_loses_nothing(shop: Shop) -> None:
    shop.upstream.enqueue(reply(WORDS, 0.06))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.page.get_by_text("word5").wait_for()
    for word in ("word20", "word40"):
        await shop.visit.page.reload()
        await shop.visit.page.get_by_text(word).wait_for()
    assert await shop.visit.last_reply() == WHOLE
    assert [each.strip() for each in await shop.stored_replies()] == [WHOLE]
    assert await shop.visit.page.locator(".turn").count() == 1
    assert await shop.visit.replies.count() == 1
    assert len(shop.upstream.requests) == 1


async def test_back_button_brings_the_answer(shop: Shop) -> None:
    shop.upstream.enqueue(reply(WORDS, 0.03))
    shop.site.pages["/other"] = html("Another page")
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.page.get_by_text("word3").wait_for()
    await shop.visit.page.goto(f"{shop.site.origin}/other")
    await asyncio.sleep(0.3)
    await shop.visit.page.go_back()
    assert await shop.visit.last_reply() == WHOLE
    assert await shop.visit.page.locator(".turn").count() == 1


async def test_stop_button_stops_the_provider(shop: Shop) -> None:
    shop.upstream.enqueue(Reply([text("some "), text("text"), HOLD]))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.page.get_by_text("some text").wait_for()
    await shop.visit.page.get_by_role("button", name="Stop").click()
    assert await shop.upstream.requests[0].wait_hung_up(1.0) < 1.0
    assert await shop.visit.last_reply() == "some text"
    assert await shop.stored_replies() == ["some text"]


async def test_unlisted_origin_gets_a_notice(shop: Shop) -> None:
    # The same site by another name is another origin, and not on the list.
    await shop.visit.page.goto(f"http://localhost:{shop.site.port}/")
    await shop.visit.launcher.click()
    notice = shop.visit.page.locator(".notice-text")
    await notice.get_by_text("This chat is not available on this site.").wait_for()
    # A regression: the chat said "Online" here, and took what nobody would answer.
    assert await shop.visit.page.locator(".status").inner_text() == "Not available"
    assert await shop.visit.message.count() == 0
    assert not shop.upstream.requests


async def test_script_twice_gives_one_launcher(shop: Shop) -> None:
    shop.upstream.enqueue(reply(["one"]))
    tag = script_tag(shop.server.url)
    shop.site.pages["/"] = html(tag + tag)
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    assert await shop.visit.last_reply() == "one"
    assert await shop.visit.page.locator("lantern-widget").count() == 1
    assert not shop.visit.faults


async def test_throwing_storage_still_chats(shop: Shop) -> None:
    shop.upstream.enqueue(reply(["in ", "memory"]))
    await shop.visit.page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage'])"
        " Object.defineProperty(window, name, {get() {"
        " throw new DOMException('blocked', 'SecurityError'); }});"
    )
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    assert await shop.visit.last_reply() == "in memory"
    assert not shop.visit.faults


async def test_failed_turn_says_so_and_can_be_retried(shop: Shop) -> None:
    refusal = Reply([b'{"error":{"message":"no"}}'], 500, framing="length")
    shop.upstream.enqueue(refusal, reply(["now ", "it works"]))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.page.get_by_role("button", name="Try again").click()
    await shop.visit.replies.filter(has_text="now it works").wait_for()
    assert await shop.visit.last_reply() == "now it works"
    assert len(shop.upstream.requests) == 2


async def test_seven_tabs_leave_the_site_usable(shop: Shop) -> None:
    shop.upstream.enqueue(reply(["one"]))
    await shop.visit.open(shop.url)
    await shop.visit.say("hello")
    await shop.visit.last_reply()
    for _ in range(6):
        page = await shop.visit.context.new_page()
        other = Visit(shop.visit.context, page)
        await page.goto(shop.url)
        await other.launcher.or_(other.message).first.wait_for()
    # HTTP/1.1 has six connections a host: idle widgets must not hold them all.
    answer = await page.evaluate(
        "url => fetch(url, {mode: 'no-cors', signal: AbortSignal.timeout(3000)})"
        ".then(() => 'answered', error => String(error))",
        f"{shop.server.url}/health",
    )
    assert answer == "answered"
