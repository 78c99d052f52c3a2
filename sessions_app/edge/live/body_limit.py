"""The limit of request bodies, before anything keeps them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sessions_app.conf import conf
from sessions_app.domain.errors import BadRequest
from sessions_app.edge.body import body_limit, too_long
from sessions_app.edge.live.answers import refuse
from sessions_app.edge.live.intake import Intake

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


class BodyLimit:
    """Wraps an ASGI app: Django would write a body of any length to disk first."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        limit = body_limit(scope["method"], scope["path"])
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            await refuse(send, BadRequest("The Content-Length is not a number."))
            return
        # Longer numbers than 18 digits are no lengths, and may not be converted.
        if len(length) > 18 or int(length) > limit:
            await refuse(send, too_long(limit))
            return
        intake = Intake(scope, receive, limit)
        if int(length) > conf().max_body_bytes:
            await intake.admit()
        if intake.error is None:
            # Streams send a message for each token: what may not be long goes straight.
            may_be_long = int(length) > conf().max_body_bytes or (
                limit > conf().max_body_bytes and b"transfer-encoding" in headers
            )
            if may_be_long:
                await self._serve_long(scope, intake, send)
            else:
                await self._app(scope, intake.receive, send)
        if intake.error is not None:
            await refuse(send, intake.error)

    async def _serve_long(
        self, scope: dict[str, Any], intake: Intake, send: Any
    ) -> None:
        async def send_on(message: dict[str, Any]) -> None:
            # Whoever begins to answer has understood the body.
            intake.let_go()
            await send(message)

        try:
            await self._app(scope, intake.receive, send_on)
        finally:
            intake.let_go()
