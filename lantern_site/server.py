"""Lantern's server: Daphne with its application's engine, on a fast event loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from twisted.internet import asyncioreactor

if sys.platform != "win32":
    import uvloop

    # Before anything imports the reactor: it runs on the loop that it finds here.
    asyncioreactor.install(uvloop.new_event_loop())  # type: ignore[no-untyped-call]

from daphne.server import Server
from twisted.internet import defer, reactor

from sessions_app.engine.consumer import engine

DRAIN_S = 5.0


class LanternServer(Server):  # type: ignore[misc]
    """Starts the engine before the first request, and ends it before the last."""

    listen_failure = ""
    connections: dict[Any, dict[str, Any]]

    def __init__(self, *args: Any, ready: Callable[[], None], **options: Any) -> None:
        super().__init__(*args, **options)
        self._ready = ready

    def run(self) -> None:
        reactor.callWhenRunning(self._start_engine)
        super().run()

    def listen_error(self, failure: Any) -> None:
        """Keep the reason for the command line, and stop."""
        self.listen_failure = failure.getErrorMessage()
        self.stop()

    def listen_success(self, port: Any) -> None:
        """Now connections are accepted."""
        super().listen_success(port)
        self._ready()

    def _start_engine(self) -> None:
        engine.ensure_running()
        reactor.addSystemEventTrigger("before", "shutdown", self._stop_engine)  # type: ignore[arg-type]

    def _stop_engine(self) -> defer.Deferred[None]:
        stopping = asyncio.ensure_future(engine.stop(DRAIN_S))
        return defer.Deferred.fromFuture(stopping)

    def kill_all_applications(self) -> object:
        # Connections whose request has not reached the application have none to end.
        self.connections = {
            protocol: details
            for protocol, details in self.connections.items()
            if "application_instance" in details
        }
        return super().kill_all_applications()


def serve(host: str, port: int, ready: Callable[[], None]) -> None:
    """Serve until a signal ends it; ``ready`` is called once the socket listens."""
    from daphne.endpoints import build_endpoint_description_strings

    from lantern_site.asgi import application

    server = LanternServer(
        application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        verbosity=0,
        server_name="lantern",
        ready=ready,
        request_buffer_size=65_536,
        websocket_max_message_size=1_048_576,
        websocket_max_frame_size=1_048_576,
    )
    server.run()
    if server.listen_failure:
        raise OSError(server.listen_failure)
