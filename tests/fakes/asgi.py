"""A client inside the process that speaks ASGI: streams by event, and may hang up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import msgspec
from channels.testing import WebsocketCommunicator

PATIENCE_S = 5.0
Headers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The header's value, joined by commas if it came more than once."""
        values = [value for key, value in self.headers if key == name.lower()]
        return ", ".join(values) if values else None

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> str:
        """The error code of a refusal."""
        return str(self.json["error"]["code"])


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event; a comment has only ``comment``."""

    id: str = ""
    name: str = ""
    fields: Any = None
    comment: str = ""


class Exchange:
    """One request on its way through the application."""

    def __init__(self, app: Any, scope: dict[str, Any], body: Iterable[bytes]) -> None:
        self._to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._from_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        pieces = list(body) or [b""]
        for place, piece in enumerate(pieces, 1):
            more = place < len(pieces)
            message = {"type": "http.request", "body": piece, "more_body": more}
            self._to_app.put_nowait(message)
        self.task = asyncio.create_task(
            app(scope, self._to_app.get, self._from_app.put)
        )
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.is_ended = False
        self._text = b""

    async def _next(self) -> dict[str, Any]:
        """The application's next message; an exception that escapes it rises here."""
        getting = asyncio.ensure_future(self._from_app.get())
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait(
                [getting, self.task], return_when=asyncio.FIRST_COMPLETED
            )
        if not getting.done() and self._from_app.empty():
            getting.cancel()
            await self.task
            raise AssertionError("the application ended without an answer")
        return await getting

    async def start(self) -> None:
        """Wait for status and headers."""
        message = await self._next()
        assert message["type"] == "http.response.start", message
        self.status = message["status"]
        self.headers = [
            (name.decode("latin-1").lower(), value.decode("latin-1"))
            for name, value in message.get("headers", [])
        ]

    async def read(self) -> bytes:
        """The next piece of the body, empty at its end."""
        while not self.is_ended:
            message = await self._next()
            self.is_ended = not message.get("more_body", False)
            if body := message.get("body", b""):
                return bytes(body)
        return b""

    async def hang_up(self) -> None:
        """Go away, and wait until the application has noticed."""
        self._to_app.put_nowait({"type": "http.disconnect"})
        async with asyncio.timeout(PATIENCE_S):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([self.task])

    async def frame(self) -> Frame | None:
        """The next event or comment; None at the end of the stream."""
        while b"\n\n" not in self._text:
            piece = await self.read()
            if not piece:
                assert not self._text, "the stream ended inside an event"
                return None
            self._text += piece
        text, _, self._text = self._text.partition(b"\n\n")
        return _parse(text.decode())

    async def events(self, last: str = "", count: int = 0) -> list[Frame]:
        """Events to the one named ``last``, to ``count`` of them, or to the end."""
        found: list[Frame] = []
        while frame := await self.frame():
            if frame.name:
                found.append(frame)
            if found and (found[-1].name == last or len(found) == count):
                break
        return found


def _parse(text: str) -> Frame:
    if text.startswith(":"):
        return Frame(comment=text[1:].strip())
    lines = dict(line.split(": ", 1) for line in text.split("\n"))
    return Frame(lines["id"], lines["event"], msgspec.json.decode(lines["data"]))


class AsgiClient:
    """Calls an application; ``make_headers`` gives what every request carries."""

    def __init__(self, app: Any, make_headers: Callable[[], Headers] = dict) -> None:
        self._app = app
        self._make_headers = make_headers

    def exchange(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        body: Iterable[bytes] = (),
        headers: Headers | None = None,
        peer: str = "192.0.2.1",
    ) -> Exchange:
        """Begin a request."""
        if json is not None:
            body = [msgspec.json.encode(json)]
        path, _, query = url.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("latin-1"),
            "root_path": "",
            "query_string": query.encode("latin-1"),
            "headers": self._headers(headers),
            "client": [peer, 50_000],
            "server": ["testserver", 80],
        }
        return Exchange(self._app, scope, body)

    async def request(self, method: str, url: str, **options: Any) -> Answer:
        """A whole exchange."""
        exchange = self.exchange(method, url, **options)
        await exchange.start()
        body = b""
        while piece := await exchange.read():
            body += piece
        await exchange.hang_up()
        return Answer(exchange.status, exchange.headers, body)

    @asynccontextmanager
    async def stream(
        self, url: str, method: str = "GET", **options: Any
    ) -> AsyncIterator[Exchange]:
        """A streamed response, left at the end of the block."""
        exchange = self.exchange(method, url, **options)
        try:
            await exchange.start()
            yield exchange
        finally:
            await exchange.hang_up()

    def socket(
        self,
        headers: Headers | None = None,
        protocols: Iterable[str] = (),
        path: str = "/v1/socket",
    ) -> WebsocketCommunicator:
        """A WebSocket before its handshake."""
        communicator = WebsocketCommunicator(
            self._app, path, self._headers(headers), list(protocols)
        )
        communicator.scope["client"] = ["192.0.2.1", 50_000]
        return communicator

    def _headers(self, given: Headers | None) -> list[tuple[bytes, bytes]]:
        headers = {"host": "testserver", **self._make_headers(), **(given or {})}
        return [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in headers.items()
        ]
