"""Which requests are answered ahead of Django's handler."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from sessions_app.edge.live.post import MessageConsumer
from sessions_app.edge.live.sse import EventsConsumer
from sessions_app.edge.live.websocket import SocketConsumer

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

_PATH = re.compile(r"/v1/sessions/([^/]+)/(events|messages)")
SOCKET_PATH = "/v1/socket"

_events: App = EventsConsumer.as_asgi()
_messages: App = MessageConsumer.as_asgi()
_socket: App = SocketConsumer.as_asgi()


def http_app(django_app: App) -> App:
    """The HTTP application: what is hot or streams here, everything else by Django."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        match = _PATH.fullmatch(scope["path"])
        if match is not None and match[2] == "events":
            scope["session_id"] = match[1]
            await _events(scope, receive, send)
            return
        if match is not None and scope["method"] == "POST":
            headers = scope["headers"]
            is_stream_wanted = any(
                name == b"accept" and b"text/event-stream" in value.lower()
                for name, value in headers
            )
            if is_stream_wanted or any(name == b"authorization" for name, _ in headers):
                scope["session_id"] = match[1]
                scope["is_stream_wanted"] = is_stream_wanted
                await _messages(scope, receive, send)
                return
        await django_app(scope, receive, send)

    return app


async def socket_app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The WebSocket application; elsewhere the handshake is refused."""
    if scope["path"] == SOCKET_PATH:
        await _socket(scope, receive, send)
    else:
        await receive()
        await send({"type": "websocket.close"})
