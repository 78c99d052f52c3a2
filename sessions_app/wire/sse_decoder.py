"""Server-sent events from bytes, cut anywhere: a decoder that does no I/O."""

from __future__ import annotations

import msgspec

from sessions_app.domain.errors import BadResponse

MAX_EVENT_BYTES = 4 * 1024 * 1024
BOM = b"\xef\xbb\xbf"

_LF = 10
_CR = 13


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
    """One event; ``data`` is its data lines joined by LF, still undecoded."""

    data: bytes
    event: str = ""


class SSEDecoder:
    """Feed reads of any size, get whole events.

    Lines end in LF, CR or CRLF. A CR at the end of a read ends its line at once;
    an LF that opens the next read is then skipped. An event of more than
    ``max_event_bytes`` raises BadResponse: a provider is not trusted with our memory.
    Events that were whole before it are returned first, the error follows on the
    next call.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._head: bytes | None = b""  # bytes that may be a BOM; None once known
        self._skip_lf = False
        self._is_idle = False  # between two events, with nothing held
        self._is_too_long = False
        # Grown in place: many small pieces would take many times their size.
        self._line = bytearray()  # the one that has not ended yet
        self._data: bytearray | None = None  # data lines of the event
        self._line_bytes = 0
        self._event = b""

    def feed(self, raw: bytes) -> list[ServerSentEvent]:
        """The events that these bytes complete, in order."""
        # What a provider nearly always sends: one read, one event, one line.
        if (
            self._is_idle
            and raw.startswith(b"data: ")
            and raw.endswith(b"\n\n")
            and raw.find(b"\n") == len(raw) - 2
            and b"\r" not in raw
            and len(raw) <= self._max_event_bytes
        ):
            return [ServerSentEvent(raw[6:-2])]
        if self._is_too_long:
            raise self._too_long()
        raw = self._without_preamble(raw)
        return self._feed_lines(raw) if raw else []

    def flush(self) -> list[ServerSentEvent]:
        """At the end: the event that the stream left open, if it has data."""
        if self._is_too_long:
            raise self._too_long()
        found: list[ServerSentEvent] = []
        if self._line:
            self._take(self._complete(b""))
        self._dispatch(found)
        return found

    def _without_preamble(self, raw: bytes) -> bytes:
        if self._head is not None:
            raw = self._head + raw
            if len(raw) < len(BOM) and BOM.startswith(raw):
                self._head = raw
                return b""
            self._head = None
            raw = raw.removeprefix(BOM)
        if self._skip_lf and raw:
            self._skip_lf = False
            if raw[0] == _LF:
                raw = raw[1:]
        return raw

    def _feed_lines(self, raw: bytes) -> list[ServerSentEvent]:
        found: list[ServerSentEvent] = []
        lines = raw.splitlines()  # of bytes: LF, CR and CRLF only
        last = raw[-1]
        rest = b""
        if last not in (_LF, _CR):
            rest = lines.pop()
        self._skip_lf = last == _CR
        if lines and self._line:
            lines[0] = self._complete(lines[0])
        for line in lines:
            if not line:
                self._dispatch(found)
            elif not self._take(line):
                return self._overflow(found)
        if rest:
            self._line += rest
            if self._line_bytes + len(self._line) > self._max_event_bytes:
                return self._overflow(found)
        self._is_idle = not (self._line or self._event) and self._data is None
        # The fast path looks at no flag but this one.
        self._is_idle = self._is_idle and not self._skip_lf
        return found

    def _complete(self, end: bytes) -> bytes:
        self._line += end
        line = bytes(self._line)
        self._line = bytearray()  # what was large is given back
        return line

    def _take(self, line: bytes) -> bool:
        """Read one line that is not empty; False if the event grows too long."""
        if self._line_bytes + len(line) > self._max_event_bytes:
            return False
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            if self._data is None:
                self._data = bytearray(value)
            else:
                self._data += b"\n"
                self._data += value
            self._line_bytes += len(line)
        elif name == b"event":
            self._event = value.removeprefix(b" ")
        return True

    def _dispatch(self, found: list[ServerSentEvent]) -> None:
        if self._data is not None:
            name = self._event.decode("utf-8", "replace")
            found.append(ServerSentEvent(bytes(self._data), name))
            self._data = None
            self._line_bytes = 0
        self._event = b""

    def _overflow(self, found: list[ServerSentEvent]) -> list[ServerSentEvent]:
        self._is_too_long = True
        self._is_idle = False
        self._line, self._data = bytearray(), None
        if not found:
            raise self._too_long()
        return found

    def _too_long(self) -> BadResponse:
        return BadResponse(
            diagnosis=f"an event of the stream exceeds {self._max_event_bytes} bytes"
        )
