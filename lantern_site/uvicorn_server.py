"""The same application on uvicorn, for those who know it or want its speed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn

from lantern_site.drain import Drain
from lantern_site.gate import room_for
from lantern_site.interpreter import tune
from lantern_site.ports import BACKLOG
from lantern_site.served import Served
from sessions_app.conf import conf


class DrainingServer(uvicorn.Server):
    """Drains before it ends: by itself it would wait for streams that never do."""

    def __init__(
        self, config: uvicorn.Config, served: Served, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drain = Drain(served.engine, self._end, served.drain_s)

    async def startup(self, *args: Any, **options: Any) -> None:
        """Listen, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(*args, **options)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal begins the drain, and its end ends the server."""
        if self._loop is None:
            super().handle_exit(sig, frame)
        else:
            self._loop.call_soon_threadsafe(self._drain.begin)

    def _end(self) -> None:
        self.should_exit = True


def serve(
    served: Served,
    host: str,
    port: int,
    ready: Callable[[], None],
    fd: int | None = None,
) -> None:
    """Serve until a signal ends it; ``ready`` is called once the socket listens.

    ``fd`` is a socket that listens already, instead of the address.
    Raises OSError if the address is not to be had.
    """
    config = uvicorn.Config(
        served.application,
        host=host,
        port=port,
        fd=fd,
        backlog=BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        headers=[("server", "lantern")],
        # Who the client is, and what a proxy may say of it, is the application's task.
        proxy_headers=False,
        timeout_keep_alive=round(conf().keep_alive_s),
        timeout_graceful_shutdown=5,
        limit_concurrency=room_for(conf().max_connections),
        ws_max_size=1_048_576,
        ws_max_queue=32,
    )
    tune()
    server = DrainingServer(config, served, ready)
    try:
        server.run()
    except SystemExit as error:
        raise OSError(f"{host}:{port} is not to be had.") from error
