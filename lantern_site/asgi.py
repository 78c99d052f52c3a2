"""The ASGI application: the same under any server."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lantern_site.settings")

from django.core.asgi import get_asgi_application

django_app = get_asgi_application()

from django.conf import settings  # noqa: E402

from lantern_site.proxies import TrustedProxies  # noqa: E402
from sessions_app.edge.live.routing import http_app, socket_app  # noqa: E402
from sessions_app.engine.consumer import engine  # noqa: E402
from widget.cors import Cors  # noqa: E402

_http = Cors(http_app(django_app))


async def _route(scope: dict[str, Any], receive: Any, send: Any) -> None:
    engine.ensure_running()
    if scope["type"] == "http":
        await _http(scope, receive, send)
    elif scope["type"] == "websocket":
        await socket_app(scope, receive, send)
    elif scope["type"] == "lifespan":
        await _live(receive, send)


async def _live(receive: Any, send: Any) -> None:
    """Servers that announce their start and end get an engine that keeps to them."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        else:
            await engine.stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


application = TrustedProxies(_route, settings.LANTERN_TRUSTED_PROXIES)
