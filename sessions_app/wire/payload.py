"""Events to JSON: the only place where snake_case becomes camelCase."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any, get_args

import msgspec

from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import (
    MessageDelta,
    SessionEvent,
    TerminalEvent,
    UsageSummary,
)

_encoder = msgspec.json.Encoder(decimal_format="number")
encode_json = _encoder.encode

_BOUNDARY = re.compile(r"_([a-z0-9])")


def camel(name: str) -> str:
    """``tokens_in`` to ``tokensIn``."""
    return _BOUNDARY.sub(lambda match: match[1].upper(), name)


OPTIONAL = {"operator"}
"""Fields that are left out where they are empty."""

_FIELD_NAMES = {
    kind: tuple((item.name, camel(item.name)) for item in fields(kind))
    for kind in (*get_args(SessionEvent), UsageSummary)
}


def event_object(event: SessionEvent | UsageSummary) -> dict[str, Any]:
    """The event as clients see it; the values of ``arguments`` stay as they are."""
    return {
        wire: event_object(value) if isinstance(value, UsageSummary) else value
        for name, wire in _FIELD_NAMES[type(event)]
        for value in (getattr(event, name),)
        if value or name not in OPTIONAL
    }


class DeltaEncoder:
    """Encodes the deltas of one turn: what all share is encoded once.

    This runs for each token; the general way takes five times as long.
    """

    def __init__(self, session_id: str, turn_id: str) -> None:
        ids = {"sessionId": session_id, "turnId": turn_id}
        self._prefix = encode_json(ids)[:-1] + b',"seq":'

    def entry(self, cursor: Cursor, seq: int, delta: str) -> Entry:
        """The same bytes as ``Entry.of`` a MessageDelta."""
        body = b'%b%d,"delta":%b}' % (self._prefix, seq, encode_json(delta))
        return Entry(cursor, MessageDelta.kind, body, False)


class Entry(msgspec.Struct, eq=False, gc=False):
    """An event in the log: encoded once, shared by all its readers.

    ``body`` is the JSON of the event, ``sse`` the whole frame with id and name. ``raw``
    is the provider's own message behind it, which only a reader that asked for it gets.
    The collector of garbage does not look at it: a log holds a hundred thousand.
    """

    cursor: Cursor
    kind: str
    body: bytes
    is_terminal: bool
    raw: bytes = b""
    _sse: bytes | None = None

    @classmethod
    def of(cls, cursor: Cursor, event: SessionEvent) -> Entry:
        """Encode an event at its place in the log."""
        body = encode_json(event_object(event))
        return cls(cursor, event.kind, body, isinstance(event, TerminalEvent))

    @classmethod
    def restored(
        cls, cursor: Cursor, kind: str, stored: bytes, is_terminal: bool
    ) -> Entry:
        """The entry again, from what ``stored`` gave."""
        body, _, raw = stored.partition(b"\n")
        entry = cls(cursor, kind, body, is_terminal)
        entry.raw = raw
        return entry

    @property
    def stored(self) -> bytes:
        """``body`` and ``raw`` in one; the JSON of neither has a line break."""
        return b"%b\n%b" % (self.body, self.raw) if self.raw else self.body

    @property
    def sse(self) -> bytes:
        """The frame for ``text/event-stream``."""
        if self._sse is None:
            turn, n = self.cursor
            self._sse = b"id: %d-%d\nevent: %s\ndata: %s\n\n" % (
                turn,
                n,
                self.kind.encode(),
                self.body,
            )
        return self._sse
