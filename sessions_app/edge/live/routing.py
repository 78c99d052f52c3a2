"""Which requests are answered ahead of Django's handler."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from sessions_app.edge.live.post import MessageConsumer, SessionsConsumer
from sessions_app.edge.live.sse import EventsConsumer
from sessions_app.edge.live.websocket import SocketConsumer

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

_PATH = re.compile(r"/v1/sessions/([^/]+)/(events|messages)")
SESSIONS_PATH = "/v1/sessions"
SOCKET_PATH = "/v1/socket"

_events: App = EventsConsumer.as_asgi()
_messages: App = MessageConsumer.as_asgi()
_sessions: App = SessionsConsumer.as_asgi()
_socket: App = SocketConsumer.as_asgi()


def http_app(django_app: App) -> App:
    """The HTTP application: what is hot or streams here, everything else by Django."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        path, headers = scope["path"], scope["headers"]
        match = _PATH.fullmatch(path)
        if match is not None and match[2] == "events":
            scope["session_id"] = match[1]
            await _events(scope, receive, send)
            return
        if scope["method"] == "POST":
            has_token = any(name == b"authorization" for name, _ in headers)
            if match is not None:
                is_stream_wanted = any(
                    name == b"accept" and b"text/event-stream" in value.lower()
                    for name, value in headers
                )
                if is_stream_wanted or has_token:
                    scope["session_id"] = match[1]
                    scope["is_stream_wanted"] = is_stream_wanted
                    await _messages(scope, receive, send)
                    return
            elif has_token and path == SESSIONS_PATH:
                await _sessions(scope, receive, send)
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
