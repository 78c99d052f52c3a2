"""The ASGI application: the same under any server."""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "lantern_site.settings")

from django.core.asgi import get_asgi_application

django_app = get_asgi_application()

from django.conf import settings  # noqa: E402

from lantern_site.proxies import TrustedProxies  # noqa: E402
from lantern_site.status_paths import (  # noqa: E402
    ProbeHosts,
    StatusPaths,
    no_socket,
)
from sessions_app.edge.live.body_limit import App, BodyLimit  # noqa: E402
from sessions_app.edge.live.routing import http_app, socket_app  # noqa: E402
from sessions_app.engine.consumer import EngineTask, engine  # noqa: E402
from widget.cors import Cors  # noqa: E402

site = ProbeHosts(django_app)


def build_application(engine: EngineTask) -> App:
    """The whole site around one engine: everything that a request passes."""
    return _around(engine, Cors(BodyLimit(http_app(site))), socket_app)


def build_worker_application(engine: EngineTask) -> App:
    """How a worker is, and nothing else."""
    return _around(engine, StatusPaths(BodyLimit(site)), no_socket)


def _around(engine: EngineTask, http: App, socket: App) -> App:
    async def route(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await engine.ready()
        if scope["type"] == "http":
            await http(scope, receive, send)
        elif scope["type"] == "websocket":
            await socket(scope, receive, send)
        elif scope["type"] == "lifespan":
            await _live(engine, receive, send)

    return TrustedProxies(route, settings.LANTERN_TRUSTED_PROXIES)


async def _live(engine: EngineTask, receive: Any, send: Any) -> None:
    """Servers that announce their start and end get an engine that keeps to them."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        else:
            await engine.stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


application = build_application(engine)
