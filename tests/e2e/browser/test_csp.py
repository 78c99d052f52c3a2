"""The policies of docs/howto/csp.md, in a browser that holds to them."""

from __future__ import annotations

import re

import pytest

from tests.e2e.browser.conftest import Shop, reply
from tests.fakes.browser import html, script_tag
from tests.fakes.live_server import ROOT

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(60)]

PAGE = (ROOT / "docs" / "howto" / "csp.md").read_text()
BLOCKS = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
ANSWER = "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nlet x = 1;\n```\n"
BASE = "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; "
# One rule of the panel, and one of the Markdown in it.
STYLE = """
['.panel', '.markdown .code'].map((name) => {
  const node = document.querySelector('lantern-widget').shadowRoot.querySelector(name);
  const { position, borderStartStartRadius, backgroundColor } = getComputedStyle(node);
  return [position, borderStartStartRadius, backgroundColor];
})
"""
WATCH = """
window.violations = [];
document.addEventListener('securitypolicyviolation',
  event => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


def policies(server_url: str) -> list[str]:
    """All but the first block begin where the one before left off."""
    by_address, by_nonce, socket = (
        block.replace("https://chat.example.com", server_url).replace(
            "wss://chat.example.com", server_url.replace("http", "ws")
        )
        for block in BLOCKS
    )
    with_socket = f"{by_address.partition(';')[0]}; {socket}"
    return [by_address, by_nonce, with_socket]


@pytest.mark.parametrize("number", range(3))
async def test_documented_policy_is_enough(shop: Shop, number: int) -> None:
    policy = policies(shop.server.url)[number]
    shop.site.headers["Content-Security-Policy"] = BASE + policy
    tag = script_tag(shop.server.url)
    if "nonce-" in policy:
        tag = tag.replace("<script", '<script nonce="R4nd0m"')
    shop.site.pages["/"] = html(tag)
    page = shop.visit.page
    await page.add_init_script(WATCH)
    shop.upstream.enqueue(reply(ANSWER))
    await shop.visit.open(shop.url)
    await shop.visit.say("a table and code, please")
    assert "let x = 1;" in await shop.visit.last_reply()
    if "ws:" in policy:
        opened = f"new WebSocket('{shop.server.url.replace('http', 'ws')}/v1/socket')"
        await page.evaluate(f"new Promise(end => {{ {opened}.onerror = end; }})")
    assert await page.evaluate("window.violations") == []
    assert await page.locator("table td").count() == 2
    assert await page.evaluate(STYLE) == [
        ["fixed", "22px", "rgb(255, 254, 252)"],
        ["static", "12.1px", "rgb(245, 241, 235)"],
    ]
