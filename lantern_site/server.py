"""Lantern's server: Daphne with backpressure and limits, on a fast event loop.

What it adds to Daphne: ``send`` waits for a slow client, a streamed piece goes to the
socket at once, connections are limited in number, size and time, and the engine begins
with the server and is drained before it ends.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from twisted.internet import asyncioreactor

if sys.platform != "win32":
    import uvloop

    # Before anything imports the reactor: it runs on the loop that it finds here.
    asyncioreactor.install(uvloop.new_event_loop())  # type: ignore[no-untyped-call]

from daphne import server as daphne_server
from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings
from twisted.internet import reactor
from twisted.python import log
from twisted.web.http_headers import Headers

from lantern_site.channel import CountedConnection, LimitedChannel
from lantern_site.drain import Drain
from lantern_site.gate import Gate, room_for, trusted_networks
from lantern_site.inbox import Inbox
from lantern_site.interpreter import tune
from lantern_site.ports import BACKLOG
from lantern_site.served import Served
from sessions_app.conf import conf
from sessions_app.edge.body import too_long

NO_HEADERS = Headers()
MAX_WAITING_PIECES = 4
"""Of a long body, each of 64 KB at most, before its connection is read no further."""
MAX_WAITING_FRAMES = 32
"""Frames of one socket that wait for the application before it is read no further."""


class Patient:
    """Lets ``send`` wait while the socket's buffer is full."""

    # Set while the client is behind; ``send`` waits for it.
    drained: asyncio.Future[None] | None = None

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


class StreamRequest(Patient, WebRequest):  # type: ignore[misc]
    """A request whose answer may be streamed piece by piece."""

    _is_streaming = False
    _is_early = False
    """Whether the application has the request already, and reads its body."""
    _body_size = 0

    def begin_early(self, command: bytes, path: bytes, version: bytes) -> None:
        """Hand the request on before its body is there, which may be long."""
        if self.requestHeaders.hasHeader(b"Upgrade"):
            return
        self.requestReceived(command, path, version)
        self._is_early = True
        if self.application_queue is not None:
            self.application_queue.take_back()  # the end of a body that was empty

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        """All of the request is there."""
        if self._is_early:
            self._hand_on(b"", more=False)
        else:
            super().requestReceived(command, path, version)

    def _hand_on(self, piece: bytes, *, more: bool) -> None:
        inbox = self.application_queue
        if inbox is None:
            return
        inbox.put_nowait({"type": "http.request", "body": piece, "more_body": more})
        if more and inbox.size >= MAX_WAITING_PIECES:
            network = self.channel._networkProducer
            network.pauseProducing()
            inbox.when_empty = network.resumeProducing

    def handleContentChunk(self, data: bytes) -> None:
        """Keep a piece of the body, within the limit."""
        if self._is_early:
            self._hand_on(data, more=True)
            return
        self._body_size += len(data)
        limit = self.channel.body_limit
        if self._body_size <= limit:
            super().handleContentChunk(data)
        elif not self.channel.is_refused:
            self.channel.refuse(too_long(limit))

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Pass a piece of a stream to the socket, anything else to Daphne."""
        if not (self._is_streaming and message.get("more_body")):
            if self._is_early and not self._response_started:
                self._close_after_refusal()
            super().handle_reply(message)
            self._begin_stream(message)
        elif self.channel is not None and not self.finished:
            body = message["body"]
            self._write_now(b"%x\r\n%b\r\n" % (len(body), body))

    def _close_after_refusal(self) -> None:
        channel = self.channel
        if channel is not None and channel.is_reading_body:
            self.responseHeaders.setRawHeaders(b"connection", [b"close"])

    def _begin_stream(self, message: dict[str, Any]) -> None:
        is_piece = message["type"] == "http.response.body" and message.get("more_body")
        if is_piece and self.chunked and self.channel is not None:
            self._is_streaming = True
            # Both were read and written by now; a stream may stay open for days.
            self.requestHeaders = self.responseHeaders = NO_HEADERS

    def _write_now(self, piece: bytes) -> None:
        """Send without a detour over the reactor's writers, if nothing waits there.

        The detour costs two calls of epoll and a turn of the loop for each token.
        """
        transport = self.channel.transport
        if (
            type(transport) is CountedConnection
            and not transport.dataBuffer
            and not transport._tempDataBuffer
            and not transport.disconnected
        ):
            sent = transport.writeSomeData(piece)
            if isinstance(sent, int) and sent >= 0:
                piece = piece[sent:]
        if piece:
            transport.write(piece)

    def connectionLost(self, reason: Any) -> None:
        """The client is gone."""
        self.resumeProducing()
        super().connectionLost(reason)


class StreamSocket(Patient, WebSocketProtocol):  # type: ignore[misc]
    """A WebSocket that is written and read no faster than the other side is."""

    def onOpen(self) -> None:
        """The handshake is done: from here on the transport reports to this object."""
        self.transport.unregisterProducer()  # the HTTP connection that it was
        self.transport.registerProducer(self, True)
        super().onOpen()

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        """Hand a frame on; one who sends faster than it is served has to wait."""
        super().onMessage(payload, isBinary)
        if self.application_queue.size >= MAX_WAITING_FRAMES:
            self.transport.pauseProducing()
            self.application_queue.when_empty = self.transport.resumeProducing

    def serverClose(self, code: int | None = None) -> None:
        """Close with any code that a server may use; autobahn takes but a few."""
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=code or 1000, isReply=False)

    def onClose(self, wasClean: bool, code: int, reason: str) -> None:
        """The socket is closed."""
        self.resumeProducing()
        super().onClose(wasClean, code, reason)


class StreamFactory(HTTPFactory):  # type: ignore[misc]
    """Makes the connections and requests of this server, as many as it may have."""

    protocol = LimitedChannel

    def __init__(self, server: LanternServer) -> None:
        super().__init__(server)
        self.gate = server.gate

    def buildProtocol(self, address: Any) -> Any:
        """A protocol for a new connection; None closes it."""
        if not self.gate.enter(getattr(address, "host", "")):
            return None
        protocol = super().buildProtocol(address)
        # Twisted would read forms, which nobody here sends, into memory twice.
        protocol.requestFactory = partial(StreamRequest, parsePOSTFormSubmission=False)
        return protocol


class SocketFactory(WebSocketFactory):  # type: ignore[misc]
    """Makes the sockets above."""

    protocol = StreamSocket


# Daphne has no setting for its classes.
daphne_server.HTTPFactory = StreamFactory
daphne_server.WebSocketFactory = SocketFactory


class LanternServer(daphne_server.Server):  # type: ignore[misc]
    """Starts the engine before the first request, and ends it before the last."""

    listen_failure = ""
    connections: dict[Any, dict[str, Any]]

    def __init__(
        self, served: Served, *, ready: Callable[[], None], **options: Any
    ) -> None:
        super().__init__(served.application, **options)
        self._served = served
        self._ready = ready
        self.gate = Gate(
            room_for(conf().max_connections),
            conf().max_connections_per_address,
            trusted_networks(settings.LANTERN_TRUSTED_PROXIES),
        )

    def run(self) -> None:
        """Serve until the reactor is stopped."""
        # Twisted keeps its errors to itself unless somebody listens.
        log.PythonLoggingObserver().start()  # type: ignore[no-untyped-call]
        self._drain_before_stop()
        # Its start-up comes before the loop runs, and the engine needs the loop.
        reactor.callWhenRunning(reactor.callLater, 0, self._start_engine)
        super().run()

    def _drain_before_stop(self) -> None:
        """Signals begin the drain, and its end stops the reactor."""
        core: Any = reactor
        served = self._served
        drain = Drain(served.engine, core.stop, served.drain_s, self._is_busy)
        core.stop = drain.begin

    def listen_error(self, failure: Any) -> None:
        """Keep the reason for the command line, and stop."""
        self.listen_failure = failure.getErrorMessage()
        self.stop()

    def listen_success(self, port: Any) -> None:
        """Now connections are accepted."""
        super().listen_success(port)
        port.transport = CountedConnection
        self._ready()

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Inbox | None:
        """Begin to answer a request; what the application will receive."""
        details = self.connections.get(protocol)
        if details is None:
            return None
        scope.setdefault("asgi", {"version": "3.0"})
        inbox = Inbox()
        send = partial(self.handle_reply, protocol)
        answering = self.application(scope, inbox.get, send)
        details["application_instance"] = asyncio.ensure_future(answering)
        return inbox

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

    def _is_busy(self) -> bool:
        """Whether an answer is under way whose client is there."""
        return any(
            "disconnected" not in details and not answering.done()
            for details in self.connections.values()
            if (answering := details.get("application_instance")) is not None
        )

    def _start_engine(self) -> None:
        self._served.engine.ensure_running()

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
        return [f"fd:fileno={fd}"]
    endpoints = build_endpoint_description_strings(host=host, port=port)
    return [f"{endpoint}:backlog={BACKLOG}" for endpoint in endpoints]


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
    server = LanternServer(
        served,
        endpoints=_endpoints(host, port, fd),
        verbosity=0,
        server_name="lantern",
        ready=ready,
        request_buffer_size=65_536,
        websocket_max_message_size=1_048_576,
        websocket_max_frame_size=1_048_576,
    )
    tune()
    server.run()
    if server.listen_failure:
        raise OSError(server.listen_failure)
