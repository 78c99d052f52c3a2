"""The few paths of a process that serves nobody, and only says how it is."""

from __future__ import annotations

from typing import Any

from lantern_site.proxies import address_of
from sessions_app.domain.errors import NotFound
from sessions_app.edge.live.answers import refuse
from sessions_app.edge.live.body_limit import App

PATHS = frozenset({"/health", "/ready", "/metrics"})


class StatusPaths:
    """Wraps an ASGI app: other paths are not found.

    Whoever looks after a worker asks by its address, which no setting names. A host
    that is an address is taken for ``localhost``, which must be allowed; a name is not:
    by one of its own, a page in a browser on this machine could ask, too.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["path"] not in PATHS:
            await refuse(send, NotFound())
            return
        headers = [(name, _host(name, value)) for name, value in scope["headers"]]
        await self._app({**scope, "headers": headers}, receive, send)


def _host(name: bytes, value: bytes) -> bytes:
    is_address = name == b"host" and address_of(value.decode("latin-1")) is not None
    return b"localhost" if is_address else value


async def no_socket(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Refuse the handshake of a WebSocket."""
    await receive()
    await send({"type": "websocket.close"})
