"""The paths on which a process says how it is, to whoever looks after it."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from lantern_site.proxies import address_of
from sessions_app.domain.errors import NotFound
from sessions_app.edge.live.answers import refuse
from sessions_app.edge.live.body_limit import App

OPEN_PATHS = frozenset({"/health", "/ready"})
METRICS = "/metrics"
PATHS = OPEN_PATHS | {METRICS}


class ProbeHosts:
    """Wraps an ASGI app: probes are answered whatever host they ask for.

    They come by an address or a name within the cluster, which no setting lists. Their
    host is taken for one that is allowed; on all other paths the list counts.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] in PATHS:
            scope = _with_known_host(scope)
        await self._app(scope, receive, send)


class StatusPaths:
    """Wraps an ASGI app of a process that serves nobody: other paths are not found."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] not in PATHS:
            await refuse(send, NotFound())
            return
        await self._app(scope, receive, send)


def _with_known_host(scope: dict[str, Any]) -> dict[str, Any]:
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if scope["path"] == METRICS and not all(map(_may_ask_for_metrics, hosts)):
        return scope
    others = [each for each in scope["headers"] if each[0] != b"host"]
    return {**scope, "headers": [*others, (b"host", _allowed_host())]}


def _may_ask_for_metrics(host: bytes) -> bool:
    """Whether a page that a browser on this machine shows could not ask so.

    Without a token it is this machine that may ask, and a page of any site could point
    its own name here; an address, or ``localhost``, is no name of a site.
    """
    if settings.LANTERN_METRICS_TOKEN:
        return True
    text = host.decode("latin-1")
    is_here = text.lower().partition(":")[0] == "localhost"
    return is_here or address_of(text) is not None


def _allowed_host() -> bytes:
    """A host that Django takes; a pattern such as ``.example.com`` holds one."""
    first = str(next(iter(settings.ALLOWED_HOSTS), ""))
    return b"localhost" if first in ("", "*") else first.lstrip(".").encode()


async def no_socket(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Refuse the handshake of a WebSocket."""
    await receive()
    await send({"type": "websocket.close"})
