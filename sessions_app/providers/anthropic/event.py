"""One event of a message as a struct: typed at full speed, else read leniently."""

from __future__ import annotations

from typing import Any

import msgspec

from sessions_app.domain.text import storable
from sessions_app.providers.lenient_json import UNREADABLE, decode_leniently


class Delta(msgspec.Struct, gc=False):
    """What is new of a block, or of the message."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None


class Event(msgspec.Struct, gc=False):
    """Any event of the stream; fields of other events are absent."""

    type: str = ""
    index: int = 0
    delta: Delta | None = None
    content_block: dict[str, Any] | None = None
    message: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_decode_typed = msgspec.json.Decoder(Event).decode


def decode_event(body: bytes) -> Event:
    """Read one event; ValueError if it is no JSON at all."""
    try:
        return _decode_typed(body)
    except UNREADABLE:
        return _event_from(decode_leniently(body))


def _event_from(value: object) -> Event:
    if not isinstance(value, dict):
        return Event()
    index, delta = value.get("index"), value.get("delta")
    return Event(
        type=_text(value.get("type")) or "",
        index=index if isinstance(index, int) else 0,
        delta=_delta(delta) if isinstance(delta, dict) else None,
        content_block=_object(value.get("content_block")),
        message=_object(value.get("message")),
        usage=_object(value.get("usage")),
        error=value.get("error"),
    )


def _delta(value: dict[str, Any]) -> Delta:
    return Delta(
        type=_text(value.get("type")) or "",
        text=_text(value.get("text")),
        thinking=_text(value.get("thinking")),
        partial_json=_text(value.get("partial_json")),
        stop_reason=_text(value.get("stop_reason")),
    )


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _text(value: object) -> str | None:
    return storable(value) if isinstance(value, str) else None
