"""Cross-origin access to ``/v1/``: for the origins of the embeds, never with cookies.

Any site may read how ``bootstrap`` and ``config`` refuse it; they give nothing to one
that is not listed.

An ASGI layer around everything, so that streams, errors and refusals carry the same
headers.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from django.db import DatabaseError

from sessions_app.store.db import in_thread
from widget.known import known_embeds
from widget.origins import is_origin_listed

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

PREFIX = "/v1/"
FIRST_ASKED = ("/v1/widget/bootstrap", "/v1/widget/config")
CACHE_S = 5.0
CACHE_SIZE = 1000
PREFLIGHT: Headers = [
    (b"access-control-allow-methods", b"GET, POST, PATCH, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, idempotency-key, last-event-id, accept",
    ),
    (b"access-control-max-age", b"600"),
]
EXPOSED = (
    b"access-control-expose-headers",
    b"retry-after, idempotency-replayed",
)
VARY = (b"vary", b"Origin")


class Cors:
    """Wraps an ASGI app."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._known: dict[str, tuple[float, bool]] = {}

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        extra: Headers = [VARY]
        if origin is not None and await self._may_read(scope["path"], origin):
            extra = [VARY, (b"access-control-allow-origin", origin), EXPOSED]
        is_preflight = b"access-control-request-method" in headers
        if scope["method"] == "OPTIONS" and is_preflight:
            await _answer_preflight(send, extra)
            return

        def send_with_headers(message: dict[str, Any]) -> Any:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            return send(message)

        # No coroutine of its own: a token passes it for the price of one comparison.
        await self._app(scope, receive, send_with_headers)

    async def _may_read(self, path: str, origin: bytes) -> bool:
        # The refusal must reach the widget, or its notice would blame the network, and
        # the browser's console would send the site's owner after a fault of CORS.
        return path in FIRST_ASKED or await self._is_allowed(origin.decode("latin-1"))

    async def _is_allowed(self, origin: str) -> bool:
        known = self._known.get(origin)
        now = time.monotonic()
        if known is None or now - known[0] > CACHE_S:
            if len(self._known) >= CACHE_SIZE:
                self._known.clear()
            try:
                is_allowed = await in_thread(_is_any_embeds_origin, origin)
            except DatabaseError:
                return False
            known = self._known[origin] = (now, is_allowed)
        return known[1]


async def _answer_preflight(send: Any, extra: Headers) -> None:
    is_allowed = len(extra) > 1
    await send(
        {
            "type": "http.response.start",
            "status": 204 if is_allowed else 403,
            "headers": [*extra, *(PREFLIGHT if is_allowed else [])],
        }
    )
    await send({"type": "http.response.body", "body": b""})


def _is_any_embeds_origin(origin: str) -> bool:
    # Anybody may name an origin that nobody knows, another one each time.
    embeds = known_embeds.get().values()
    return any(is_origin_listed(origin, embed.origins) for embed in embeds)
