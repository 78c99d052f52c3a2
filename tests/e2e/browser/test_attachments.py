"""A visitor sends a file along, where the embed allows it; both sides see it."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, FilePayload, Page, expect

from tests.e2e.browser.conftest import Shop, reply
from tests.e2e.browser.dashboard import log_in, open_conversation
from tests.fakes.browser import Visit

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(60)]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
IMAGE = FilePayload(name="leak.png", mimeType="image/png", buffer=PNG)
COLOUR = [0, 255, 0, 127]
BROKEN = FilePayload(name="cut.png", mimeType="image/png", buffer=PNG[:30])
NOTE = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"Order 4711")
PROGRAM = FilePayload(
    name="x.exe", mimeType="application/x-dosexec", buffer=b"MZ\x00\xff"
)
SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg' onload='ran.push(1)'/>"
HOSTILE = [
    FilePayload(name="x.svg", mimeType="image/svg+xml", buffer=SCRIPT),
    FilePayload(name="x.html", mimeType="text/html", buffer=SCRIPT),
    FilePayload(
        name="<img src=x onerror=ran.push(1)>.txt",
        mimeType="text/plain",
        buffer=SCRIPT,
    ),
]
NOTHING = "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
WATCH = """
window.ran = [];
window.violations = [];
document.addEventListener('securitypolicyviolation',
  event => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
ALLOWED = """
[[embed]]
key = "pk_shop"
agent = "helper"
attachments = true
"""


async def test_files_go_to_the_model_with_the_message(shop: Shop) -> None:
    shop.server.provision(ALLOWED)
    shop.upstream.enqueue(reply(["I see."]))
    await shop.visit.open(shop.url)
    page = shop.visit.page
    files = page.locator("input[type=file]")
    await files.set_input_files([IMAGE, NOTE])
    await expect(page.locator(".composer .file")).to_have_text(["leak.png", "note.txt"])
    await files.set_input_files([PROGRAM])
    await page.get_by_text("x.exe").first.wait_for()
    await shop.visit.say("What is this?")
    assert await shop.visit.last_reply() == "I see."
    sent = page.locator(".question .file")
    await expect(sent).to_have_text(["leak.png", "note.txt"])
    await expect(page.locator(".composer .file")).to_have_count(0)
    content = shop.upstream.requests[0].json["messages"][-1]["content"]
    words = " ".join(part.get("text", "") for part in content)
    assert "What is this?" in words
    assert "Order 4711" in words
    urls = [part["image_url"]["url"] for part in content if "image_url" in part]
    assert urls == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"]
    await page.reload()
    await expect(sent).to_have_text(["leak.png", "note.txt"])
    assert not shop.visit.faults


async def send(shop: Shop, *files: FilePayload, text: str = "Look") -> None:
    """Open the chat, and send these."""
    shop.server.provision(ALLOWED)
    shop.upstream.enqueue(reply(["I see."]))
    await shop.visit.open(shop.url)
    await shop.visit.page.locator("input[type=file]").set_input_files(list(files))
    await expect(shop.visit.page.locator(".composer .file")).to_have_count(len(files))
    await shop.visit.say(text)
    assert await shop.visit.last_reply() == "I see."


async def downloaded(page: Page, name: str) -> tuple[str, bytes]:
    """What the button of a file saves: its name, and the bytes."""
    button = page.get_by_role("button", name=f"Download {name}", exact=True)
    await button.focus()
    async with page.expect_download() as saving:
        await page.keyboard.press("Enter")
    saved = await saving.value
    return saved.suggested_filename, Path(await saved.path()).read_bytes()


async def corner(page: Page) -> list[int]:
    """The colour that the picture was drawn with."""
    picture = page.locator(".question .picture canvas")
    await expect(picture).to_have_count(1)
    read = "node => [...node.getContext('2d').getImageData(0, 0, 1, 1).data]"
    colour: list[int] = await picture.evaluate(read)
    return colour


async def test_picture_is_seen_and_saved_live_and_later(shop: Shop) -> None:
    page = shop.visit.page
    shop.site.headers["Content-Security-Policy"] = (
        f"{NOTHING}; script-src {shop.server.url}; connect-src {shop.server.url}"
    )
    await page.add_init_script(WATCH)
    await send(shop, IMAGE, NOTE)
    asked = [url for url in shop.visit.requests if "/attachments/" in url]
    assert asked == []  # what was sent from here is here
    for _ in range(2):
        assert await corner(page) == COLOUR
        assert await downloaded(page, "leak.png") == ("leak.png", PNG)
        assert await downloaded(page, "note.txt") == ("note.txt", b"Order 4711")
        assert await page.evaluate("window.violations") == []
        await page.reload()
        await page.locator(".turn").wait_for()
    assert not shop.visit.faults
    assert not shop.foreign_requests


async def test_picture_that_was_kept_is_not_sent_again(shop: Shop) -> None:
    """A regression: the client forbade the browser to keep what the server allowed."""
    page = shop.visit.page
    network = await shop.visit.context.new_cdp_session(page)
    await network.send("Network.enable")
    statuses: list[int] = []

    def note(event: dict[str, Any]) -> None:
        if event["headers"].get("ETag", "").startswith('"file_'):
            statuses.append(event["statusCode"])

    network.on("Network.responseReceivedExtraInfo", note)
    await send(shop, IMAGE)
    for _ in range(2):
        await page.reload()
        assert await corner(page) == COLOUR
    assert statuses == [200, 304]


async def test_operator_sees_and_saves_it_too(shop: Shop, browser: Browser) -> None:
    await send(shop, IMAGE, NOTE, BROKEN, text="From the visitor")
    desk = replace(shop, visit=await Visit.begin(browser))
    await log_in(desk)
    await open_conversation(desk, "From the visitor")
    page = desk.visit.page
    assert await corner(page) == COLOUR
    # What is no picture after all is shown by its name.
    await expect(page.locator(".picture")).to_have_text("leak.png")
    for file in (IMAGE, NOTE, BROKEN):
        assert await downloaded(page, file["name"]) == (file["name"], file["buffer"])
    assert not desk.visit.faults


async def test_file_that_wants_to_run_is_only_saved(shop: Shop) -> None:
    page = shop.visit.page
    await page.add_init_script(WATCH)
    await send(shop, *HOSTILE)
    await page.reload()
    await page.locator(".turn").wait_for()
    for file in HOSTILE:
        button = page.get_by_role("button", name=f"Download {file['name']}", exact=True)
        # With every key that opens a link elsewhere: there is no address to open.
        for modifiers in ([], ["Control"], ["Shift"]):
            async with page.expect_download() as saving:
                await button.click(modifiers=modifiers)
            assert Path(await (await saving.value).path()).read_bytes() == SCRIPT
    assert len(shop.visit.context.pages) == 1
    assert await page.evaluate("window.ran") == []
    await log_in(shop)
    for url in await staff_addresses(shop):
        async with page.expect_download():
            await page.evaluate("url => location.assign(url)", url)
    assert await page.evaluate("window.ran") == []
    assert not shop.visit.faults


async def staff_addresses(shop: Shop) -> list[str]:
    """Where the dashboard's cookie gets the files of the only conversation."""
    found: list[str] = await shop.visit.page.evaluate(
        """async () => {
          const ask = async (path) => (await (await fetch(path)).json()).data;
          const [{ id }] = await ask("/v1/sessions");
          const [{ attachments }] = await ask(`/v1/sessions/${id}/messages`);
          return attachments.map((file) => `/v1/sessions/${id}/attachments/${file.id}`);
        }"""
    )
    assert len(found) == len(HOSTILE)
    return found


async def test_no_file_is_asked_for_where_none_is_allowed(shop: Shop) -> None:
    await shop.visit.open(shop.url)
    await expect(shop.visit.page.locator(".attach")).to_be_hidden()
