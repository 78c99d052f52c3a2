"""One event of a reply as a struct: typed at full speed, else read leniently."""

from __future__ import annotations

from typing import Any

import msgspec

from sessions_app.domain.text import storable
from sessions_app.providers.lenient_json import UNREADABLE, decode_leniently


class Delta(msgspec.Struct, gc=False):
    """What is new; ``message`` of a whole answer has the same fields."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None


class Choice(msgspec.Struct, gc=False):
    """One alternative; only the first is asked for."""

    index: int | None = None
    delta: Delta | None = None
    finish_reason: str | None = None


class Chunk(msgspec.Struct, gc=False):
    """One event of a stream, or a whole answer."""

    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    model: str | None = None
    x_groq: Any = None


_decode_typed = msgspec.json.Decoder(Chunk).decode


def decode_chunk(body: bytes) -> Chunk:
    """Read one event; ValueError if it is no JSON at all."""
    try:
        return _decode_typed(body)
    except UNREADABLE:
        return chunk_from(decode_leniently(body), "delta")


def chunk_from(value: object, delta_key: str) -> Chunk:
    """A chunk from JSON of a surprising shape; what does not fit is left out."""
    if not isinstance(value, dict):
        return Chunk()
    choices = value.get("choices")
    found = choices if isinstance(choices, list) else []
    usage = value.get("usage")
    return Chunk(
        choices=[_choice(item, delta_key) for item in found if isinstance(item, dict)],
        usage=usage if isinstance(usage, dict) else None,
        error=value.get("error"),
        model=_text(value.get("model")),
        x_groq=value.get("x_groq"),
    )


def _choice(value: dict[str, Any], delta_key: str) -> Choice:
    index = value.get("index")
    delta = value.get(delta_key)
    reason = value.get("finish_reason")
    return Choice(
        index=index if isinstance(index, int) else None,
        delta=_delta(delta) if isinstance(delta, dict) else None,
        finish_reason=reason if isinstance(reason, str) else None,
    )


def _delta(value: dict[str, Any]) -> Delta:
    calls = value.get("tool_calls")
    return Delta(
        content=_text(value.get("content")),
        reasoning_content=_text(value.get("reasoning_content")),
        reasoning=_text(value.get("reasoning")),
        refusal=_text(value.get("refusal")),
        tool_calls=calls if isinstance(calls, list) else None,
    )


def _text(value: object) -> str | None:
    """A string, or the text parts of a list joined; anything else is no text."""
    if isinstance(value, list):
        parts = [item for item in value if isinstance(item, dict)]
        value = "".join(
            part["text"]
            for part in parts
            if part.get("type", "text") in ("text", "output_text")
            and isinstance(part.get("text"), str)
        )
    return storable(value) if isinstance(value, str) else None
