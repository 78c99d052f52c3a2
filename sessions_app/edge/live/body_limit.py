"""The limit of request bodies, before anything keeps them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sessions_app.domain.errors import BadRequest
from sessions_app.edge.body import body_limit, too_long
from sessions_app.edge.live.answers import refuse

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class BodyLimit:
    """Wraps an ASGI app: Django would write a body of any length to disk first."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        limit = body_limit(scope["method"], scope["path"])
        error = too_long(limit)
        size = 0

        async def receive_within() -> dict[str, Any]:
            nonlocal size
            message: dict[str, Any] = await receive()
            size += len(message.get("body", b""))
            # To the application, a body that is too long is one that never ends.
            return message if size <= limit else {"type": "http.disconnect"}

        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit():
            await refuse(send, BadRequest("The Content-Length is not a number."))
            return
        # Longer numbers than 18 digits are no lengths, and may not be converted.
        if len(length) > 18 or int(length) > limit:
            await refuse(send, error)
            return
        await self._app(scope, receive_within, send)
        if size > limit:
            await refuse(send, error)
