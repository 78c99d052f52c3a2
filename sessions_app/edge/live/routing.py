"""Which requests are answered ahead of Django's handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from channels.routing import URLRouter
from django.urls import path

from sessions_app.edge.live.sse import EventsConsumer, MessageStreamConsumer
from sessions_app.edge.live.websocket import SocketConsumer

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]

SESSIONS = "/v1/sessions/"

_events = URLRouter(
    [path("v1/sessions/<str:session_id>/events", EventsConsumer.as_asgi())]
)
_messages = URLRouter(
    [path("v1/sessions/<str:session_id>/messages", MessageStreamConsumer.as_asgi())]
)
socket_app = URLRouter([path("v1/socket", SocketConsumer.as_asgi())])


def http_app(django_app: App) -> App:
    """The HTTP application: streams here, everything else by Django."""

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await (_stream_for(scope) or django_app)(scope, receive, send)

    return app


def _stream_for(scope: dict[str, Any]) -> App | None:
    path_text: str = scope["path"]
    if not path_text.startswith(SESSIONS) or path_text.count("/") != 4:
        return None
    if path_text.endswith("/events") and scope["method"] == "GET":
        return _events  # type: ignore[no-any-return]
    if path_text.endswith("/messages") and scope["method"] == "POST":
        accept = dict(scope["headers"]).get(b"accept", b"")
        if b"text/event-stream" in accept:
            return _messages  # type: ignore[no-any-return]
    return None
