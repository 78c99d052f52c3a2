"""Chromium, and the sites of other people that carry the widget."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    async_playwright,
)
from playwright.async_api import Error as BrowserError

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 8000


def executable() -> str:
    """The Chromium of this machine."""
    named = os.environ.get("CHROMIUM")
    for name in [named] if named else ["chromium", "chromium-browser", "google-chrome"]:
        if found := shutil.which(name):
            return found
    raise AssertionError("There is no Chromium: scripts/need-chromium")


@asynccontextmanager
async def chromium(without: Sequence[str] = ()) -> AsyncIterator[Browser]:
    """A browser of its own; its profile goes with it.

    ``without``: flags that the driver sets for tests, and that no visitor has.
    """
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=executable(), args=FLAGS, ignore_default_args=list(without)
        )
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Visit:
    """A visitor's page, and everything it asked for and stumbled over."""

    context: BrowserContext
    page: Page
    requests: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @classmethod
    async def begin(cls, browser: Browser, **options: object) -> Visit:
        """A new profile with one page."""
        options.setdefault("viewport", {"width": 1100, "height": 800})
        context = await browser.new_context(**options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE_MS)
        visit = cls(context, await context.new_page())
        context.on("request", lambda request: visit.requests.append(request.url))
        visit.page.on("pageerror", lambda error: visit.faults.append(str(error)))
        return visit

    @property
    def launcher(self) -> Locator:
        return self.page.get_by_role("button", name="Open chat")

    @property
    def message(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message")

    @property
    def replies(self) -> Locator:
        return self.page.locator(".reply .markdown")

    async def open(self, url: str) -> None:
        """Go there and open the chat."""
        await self.page.goto(url)
        await self.launcher.click()
        await self.message.wait_for()

    async def say(self, text: str) -> None:
        """Send a message."""
        await self.message.fill(text)
        await self.page.get_by_role("button", name="Send").click()

    async def last_reply(self) -> str:
        """The text of the last reply, once it is whole."""
        last = self.page.locator(".turn").last
        await last.locator(".reply:not(.writing) .markdown").wait_for()
        return (await self.replies.last.inner_text()).strip()

    async def stages(self) -> list[str]:
        """The texts that the last reply went through, until it was whole."""
        seen: list[str] = []
        writing = self.page.locator(".turn").last.locator(".writing")
        await self.replies.last.wait_for()
        while await writing.count():
            try:
                text = await self.replies.last.inner_text(timeout=200)
            except BrowserError:
                continue
            if text and (not seen or seen[-1] != text):
                seen.append(text)
            await asyncio.sleep(0.02)
        return seen


class HostSite:
    """Somebody's site on a port of its own: path to HTML."""

    def __init__(self, headers: Mapping[str, str] | None = None) -> None:
        self.pages: dict[str, str] = {}
        self.headers = dict(headers or {})
        self.port = 0
        self._server: asyncio.Server | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> HostSite:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode().partition("?")[0]
            html = self.pages.get(path)
            status = "404 Not Found" if html is None else "200 OK"
            body = (html or "").encode()
            headers = {
                "Content-Type": "text/html; charset=utf-8",
                "Content-Length": str(len(body)),
                "Connection": "close",
                **self.headers,
            }
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            writer.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def html(body: str, head: str = "") -> str:
    """A whole page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Shop</title>{head}</head><body><h1>Shop</h1>{body}</body></html>"
    )


def script_tag(server_url: str, key: str = "pk_shop") -> str:
    """The one line of the README."""
    return f'<script src="{server_url}/widget.js" data-key="{key}" async></script>'
