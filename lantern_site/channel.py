"""One HTTP connection, with a limit to what its client may take or send.

Twisted's own time limit begins again with each byte, and it writes bodies of any
length to disk before anybody sees them.
"""

from __future__ import annotations

from typing import Any

from twisted.internet import tcp
from twisted.web import http

from sessions_app.conf import conf
from sessions_app.domain.errors import LanternError
from sessions_app.edge.body import body_limit, too_long
from sessions_app.edge.errors import error_body
from sessions_app.wire.payload import encode_json

LINGER_S = 2.0
"""How long a refused client may go on: closed at once, it would not read why."""


# Twisted's annotations are half of what they would have to be.
_HTTPChannel: Any = http.HTTPChannel
_Connection: Any = tcp.Server


class LimitedChannel(_HTTPChannel):  # type: ignore[misc]
    """Headers and body are due within a time; a body is as long as it may be."""

    length: int | None
    body_limit: int
    """Of the request that is being read."""
    is_refused = False
    _is_between = False
    """Whether the next byte begins a request on a connection that was kept."""

    def connectionMade(self) -> None:
        self.timeOut = conf().header_timeout_s
        super().connectionMade()

    def setTimeout(self, period: float | None) -> Any:
        """Begin the time anew.

        Asked for an earlier end Twisted looks for the timer among all there are, which
        took a third of the time when 10,000 came at once.
        """
        if period is not None:
            super().setTimeout(None)
        return super().setTimeout(period)

    def resetTimeout(self) -> None:
        """A byte more is no reason to wait longer."""

    def dataReceived(self, data: bytes) -> None:
        if self.is_refused:
            return
        if self._is_between:
            self._is_between = False
            self.setTimeout(conf().header_timeout_s)
        super().dataReceived(data)

    def allHeadersReceived(self) -> None:
        method, path = self._command.decode("latin-1"), self._path.decode("latin-1")
        self.body_limit = body_limit(method, path)
        # None is a length that only the end of the body tells.
        if self.length is not None and self.length > self.body_limit:
            self.refuse(too_long(self.body_limit))
            self.length = None
            return
        if self.length != 0:
            self.setTimeout(conf().body_timeout_s)
        super().allHeadersReceived()
        if self.body_limit > conf().max_body_bytes and (
            self.length is None or self.length > conf().max_body_bytes
        ):
            self.requests[-1].begin_early(self._command, self._path, self._version)

    def rawDataReceived(self, data: bytes) -> None:
        if not self.is_refused:
            super().rawDataReceived(data)

    def allContentReceived(self) -> None:
        if not self.is_refused:
            super().allContentReceived()

    def requestDone(self, request: Any) -> None:
        if self.is_reading_body:
            # Answered before its body was there: what comes yet is not read.
            self.requests.remove(request)
            self._read_no_more()
            return
        has_more = bool(self._dataBuffer)
        super().requestDone(request)
        if self.persistent and not self._handlingRequest:
            self._is_between = not has_more
            wait_s = conf().header_timeout_s if has_more else conf().keep_alive_s
            self.setTimeout(wait_s)

    # The request is told by hand: registered with Twisted as a producer, it would
    # cost each open stream two larger dictionaries, 3 KB.

    def pauseProducing(self) -> None:
        """The transport's buffer is full."""
        super().pauseProducing()
        if self.requests:
            self.requests[0].pauseProducing()

    def resumeProducing(self) -> None:
        """The transport's buffer is empty."""
        super().resumeProducing()
        if self.requests:
            self.requests[0].resumeProducing()

    @property
    def is_reading_body(self) -> bool:
        """Whether some of the request's body is still to come."""
        return self._transferDecoder is not None

    def refuse(self, error: LanternError) -> None:
        """Answer a request that was not read to its end, and read no more."""
        body = encode_json(error_body(error))
        reason = http.RESPONSES.get(error.http_status, b"")
        head = (
            b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head % (error.http_status, reason, len(body)) + body)
        self._read_no_more()

    def _read_no_more(self) -> None:
        self.is_refused = True
        self.transport.resumeProducing()  # or nobody sees the client go
        self.transport.loseWriteConnection()
        self.setTimeout(LINGER_S)

    def timeoutConnection(self) -> None:
        """The time is over."""
        if self.is_refused:
            self.transport.abortConnection()
        else:
            super().timeoutConnection()


class CountedConnection(_Connection):  # type: ignore[misc]
    """A connection that tells the gate when it is gone, whatever protocol it had."""

    def connectionLost(self, reason: Any) -> None:
        super().connectionLost(reason)
        self.server.factory.gate.leave(self.client[0])
