"""Which requests are answered ahead of Django's handler."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from sessions_app.edge.live.sse import EventsConsumer, MessageStreamConsumer
from sessions_app.edge.live.websocket import SocketConsumer

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

_PATH = re.compile(r"/v1/sessions/([^/]+)/(events|messages)")
SOCKET_PATH = "/v1/socket"

_events: App = EventsConsumer.as_asgi()
_message_stream: App = MessageStreamConsumer.as_asgi()
_socket: App = SocketConsumer.as_asgi()


def http_app(django_app: App) -> App:
    """The HTTP application: streams here, everything else by Django."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        match = _PATH.fullmatch(scope["path"])
        stream = _stream_for(scope, match[2]) if match else None
        if match is None or stream is None:
            await django_app(scope, receive, send)
        else:
            await stream({**scope, "session_id": match[1]}, receive, send)

    return app


def _stream_for(scope: dict[str, Any], name: str) -> App | None:
    if name == "events":
        return _events
    is_stream_wanted = any(
        header == b"accept" and b"text/event-stream" in value.lower()
        for header, value in scope["headers"]
    )
    if is_stream_wanted and scope["method"] == "POST":
        return _message_stream
    return None


async def socket_app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The WebSocket application; elsewhere the handshake is refused."""
    if scope["path"] == SOCKET_PATH:
        await _socket(scope, receive, send)
    else:
        await receive()
        await send({"type": "websocket.close"})
