"""Events of an OpenAI-shaped stream as bytes."""

from __future__ import annotations

import json
from typing import Any

DONE = b"data: [DONE]\n\n"


def event(value: Any) -> bytes:
    """Any JSON as one event."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(finish: str | None = None, **fields: Any) -> bytes:
    """An event with this delta."""
    return event({"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]})


def text(content: str) -> bytes:
    """An event with text."""
    return delta(content=content)


def calls(*entries: dict[str, Any]) -> bytes:
    """An event with fragments of tool calls."""
    return delta(tool_calls=list(entries))


def call(
    arguments: str, *, index: int | None = None, id: str = "", name: str = ""
) -> dict[str, Any]:
    """One fragment of a tool call; what is left out is absent."""
    function = {"name": name, "arguments": arguments} if name else {}
    entry: dict[str, Any] = {"function": function or {"arguments": arguments}}
    if index is not None:
        entry["index"] = index
    if id:
        entry["id"] = id
    return entry


def finish(word: str = "stop") -> bytes:
    """The event that ends the reply."""
    return delta(finish=word)


def usage(prompt: int, completion: int, **more: Any) -> bytes:
    """The event with the token counts."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, **more}
    return event({"choices": [], "usage": counts})
