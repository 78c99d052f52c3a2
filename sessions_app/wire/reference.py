"""The reference page of the event stream, written from the event classes themselves."""

from __future__ import annotations

import inspect
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

from sessions_app.domain.events import SessionEvent, UsageSummary
from sessions_app.wire.payload import camel

_HEAD = """\
# Events

`GET /v1/sessions/{id}/events` answers `text/event-stream`. The same events come over
the socket at `/v1/socket`, and from `POST /v1/sessions/{id}/messages` with
`Accept: text/event-stream`, which ends with its turn.

Each event has an `id`, `<turn>-<n>`: the turn's number in its session, and a count from
1 without gaps. Send the last one that you saw as `Last-Event-ID` (or `?after=`), and
every later event comes once and in order, from any process, also after a crash.
`?after=0-0` begins at the beginning; without a cursor the stream begins with the
running turn, or now. Comments (`: heartbeat`) fill a silence, and have no id.

A turn is `session.status_running`, `turn_started`, then `message_delta` as the tokens
come (or `tool_call_*`), then exactly one of `message_completed`, `message_error` and
`turn_failed`, then `agent.message` if there is a text to show, and
`session.status_idle`. Ignore events whose name you do not know: there will be more.

Once a turn's events have expired it is told as its end alone. The end of a turn whose
process died has an `id` beyond all others of its turn.

This page is generated: `make docs`.
"""

_TABLE_HEAD = "\n| key | value |\n|---|---|\n"
_VALUES: dict[Any, str] = {
    str: "string",
    int: "whole number",
    bool: "true or false",
    UsageSummary: "object, see [usage](#usage)",
}


def event_reference() -> str:
    """The page as Markdown."""
    parts = [_HEAD]
    for kind in get_args(SessionEvent):
        parts.append(_section(f"`{kind.kind}`", kind))
    parts.append(_section("usage", UsageSummary))
    return "\n".join(parts)


def _section(title: str, kind: type[Any]) -> str:
    hints = get_type_hints(kind)
    rows = [
        f"| `{camel(field.name)}` | {_value(hints[field.name])} |\n"
        for field in fields(kind)
    ]
    return f"## {title}\n\n{inspect.cleandoc(kind.__doc__ or '')}\n{_TABLE_HEAD}" + (
        "".join(rows)
    )


def _value(hint: Any) -> str:
    if isinstance(hint, UnionType):
        inner = [each for each in get_args(hint) if each is not NoneType]
        return f"{_value(inner[0])} or null"
    if hint in _VALUES:
        return _VALUES[hint]
    return "object" if getattr(hint, "__origin__", None) is dict else "number"
