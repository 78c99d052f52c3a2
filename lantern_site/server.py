"""Lantern's server: Daphne with backpressure, on a fast event loop.

What it adds to Daphne: ``send`` waits for a slow client, a streamed piece goes to the
socket at once, and the engine begins and ends with the server.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from typing import Any

from twisted.internet import asyncioreactor

if sys.platform != "win32":
    import uvloop

    # Before anything imports the reactor: it runs on the loop that it finds here.
    asyncioreactor.install(uvloop.new_event_loop())  # type: ignore[no-untyped-call]

from daphne import server as daphne_server
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import HTTPFactory, WebRequest
from twisted.internet import defer, reactor, tcp
from twisted.python import log

from sessions_app.engine.consumer import engine

DRAIN_S = 5.0


class StreamRequest(WebRequest):  # type: ignore[misc]
    """A request whose answer may be streamed piece by piece."""

    # Set while the client is behind; ``send`` waits for it.
    drained: asyncio.Future[None] | None = None
    _is_streaming = False

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Pass a piece of a stream to the socket, anything else to Daphne."""
        if not (self._is_streaming and message.get("more_body")):
            super().handle_reply(message)
            self._begin_stream(message)
        elif self.channel is not None and not self.finished:
            body = message["body"]
            self._write_now(b"%x\r\n%b\r\n" % (len(body), body))

    def _begin_stream(self, message: dict[str, Any]) -> None:
        is_piece = message["type"] == "http.response.body" and message.get("more_body")
        if is_piece and self.chunked and self.channel is not None:
            self._is_streaming = True
            self.registerProducer(self, True)

    def _write_now(self, piece: bytes) -> None:
        """Send without a detour over the reactor's writers, if nothing waits there.

        The detour costs two calls of epoll and a turn of the loop for each token.
        """
        transport = self.channel.transport
        if (
            type(transport) is tcp.Server
            and not transport.dataBuffer
            and not transport._tempDataBuffer
            and not transport.disconnected
        ):
            sent = transport.writeSomeData(piece)
            if isinstance(sent, int) and sent >= 0:
                piece = piece[sent:]
        if piece:
            transport.write(piece)

    def pauseProducing(self) -> None:
        """The transport's buffer is full."""
        if self.drained is None:
            self.drained = asyncio.get_running_loop().create_future()

    def resumeProducing(self) -> None:
        """The client has caught up."""
        drained, self.drained = self.drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    def stopProducing(self) -> None:
        """The client is gone; whoever waits finds out by the disconnect."""
        self.resumeProducing()

    def finish(self) -> None:
        """The answer is whole."""
        if self._is_streaming:
            self.unregisterProducer()
        super().finish()

    def connectionLost(self, reason: Any) -> None:
        """The client is gone."""
        self.resumeProducing()
        super().connectionLost(reason)


class StreamFactory(HTTPFactory):  # type: ignore[misc]
    """Makes the requests above."""

    def buildProtocol(self, address: Any) -> Any:
        """A protocol for a new connection."""
        protocol = super().buildProtocol(address)
        protocol.requestFactory = StreamRequest
        return protocol


# Daphne has no setting for its request class.
daphne_server.HTTPFactory = StreamFactory


class LanternServer(daphne_server.Server):  # type: ignore[misc]
    """Starts the engine before the first request, and ends it before the last."""

    listen_failure = ""
    connections: dict[Any, dict[str, Any]]

    def __init__(self, *args: Any, ready: Callable[[], None], **options: Any) -> None:
        super().__init__(*args, **options)
        self._ready = ready

    def run(self) -> None:
        """Serve until the reactor is stopped."""
        # Twisted keeps its errors to itself unless somebody listens.
        log.PythonLoggingObserver().start()  # type: ignore[no-untyped-call]
        self._stop_but_once()
        # Its start-up comes before the loop runs, and the engine needs the loop.
        reactor.callWhenRunning(reactor.callLater, 0, self._start_engine)
        reactor.addSystemEventTrigger("before", "shutdown", self._stop_engine)  # type: ignore[arg-type]
        super().run()

    def _stop_but_once(self) -> None:
        """A second signal while the server stops is no error."""
        core: Any = reactor
        stop, is_stopping = core.stop, False

        def stop_once() -> None:
            nonlocal is_stopping
            if not is_stopping:
                is_stopping = True
                stop()

        core.stop = stop_once

    def listen_error(self, failure: Any) -> None:
        """Keep the reason for the command line, and stop."""
        self.listen_failure = failure.getErrorMessage()
        self.stop()

    def listen_success(self, port: Any) -> None:
        """Now connections are accepted."""
        super().listen_success(port)
        self._ready()

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Take a message of the application; wait while its client is behind."""
        details = self.connections.get(protocol)
        if details is None or "disconnected" in details:
            return
        if message["type"] == "http.response.start":
            self.check_headers_type(message)
        protocol.handle_reply(message)
        drained = getattr(protocol, "drained", None)
        if drained is not None:
            await asyncio.shield(drained)

    def _start_engine(self) -> None:
        engine.ensure_running()

    def _stop_engine(self) -> defer.Deferred[None]:
        stopping = asyncio.ensure_future(engine.stop(DRAIN_S))
        return defer.Deferred.fromFuture(stopping)

    def kill_all_applications(self) -> object:
        """End what still answers, when the server ends."""
        # Connections whose request has not reached the application have none to end.
        self.connections = {
            protocol: details
            for protocol, details in self.connections.items()
            if "application_instance" in details
        }
        return super().kill_all_applications()


def _endpoints(host: str, port: int, fd: int | None) -> list[str]:
    if fd is not None:
        return [f"fd:fileno={fd}:domain={'INET6' if ':' in host else 'INET'}"]
    endpoints: list[str] = build_endpoint_description_strings(host=host, port=port)
    return endpoints


def _tune_interpreter() -> None:
    """Collect garbage seldom, and let the event loop have the interpreter soon.

    The events in the log are many, alive, and no cycles: with Python's defaults, full
    collections took a third of the CPU of 50 streams and stopped them for up to
    200 ms. Queries run on threads, and the loop would wait 5 ms behind each.
    """
    sys.setswitchinterval(0.0005)
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def serve(
    host: str, port: int, ready: Callable[[], None], fd: int | None = None
) -> None:
    """Serve until a signal ends it; ``ready`` is called once the socket listens.

    ``fd`` is a socket that listens already, instead of the address.
    Raises OSError if the address is not to be had.
    """
    from lantern_site.asgi import application

    server = LanternServer(
        application,
        endpoints=_endpoints(host, port, fd),
        verbosity=0,
        server_name="lantern",
        ready=ready,
        request_buffer_size=65_536,
        websocket_max_message_size=1_048_576,
        websocket_max_frame_size=1_048_576,
    )
    _tune_interpreter()
    server.run()
    if server.listen_failure:
        raise OSError(server.listen_failure)
