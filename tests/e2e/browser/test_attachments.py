"""A visitor sends a file along, where the embed allows it."""

from __future__ import annotations

import base64

import pytest
from playwright.async_api import FilePayload, expect

from tests.e2e.browser.conftest import Shop, reply

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(60)]

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
IMAGE = FilePayload(name="leak.png", mimeType="image/png", buffer=PNG)
NOTE = FilePayload(name="note.txt", mimeType="text/plain", buffer=b"Order 4711")
PROGRAM = FilePayload(
    name="x.exe", mimeType="application/x-dosexec", buffer=b"MZ\x00\xff"
)
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


async def test_no_file_is_asked_for_where_none_is_allowed(shop: Shop) -> None:
    await shop.visit.open(shop.url)
    await expect(shop.visit.page.locator(".attach")).to_be_hidden()
