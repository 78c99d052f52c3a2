"""Which text can be stored and sent everywhere alike."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable
from typing import Any

from sessions_app.domain.errors import BadRequest

# PostgreSQL stores no NUL, and a lone surrogate has no UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


MAX_DEPTH = 64
"""What is nested deeper here would be refused elsewhere: by a database, or a reader."""


def require_storable(value: object, param: str = "", depth: int = 0) -> None:
    """Refuse a decoded JSON value that cannot be stored and read again everywhere."""
    if depth > MAX_DEPTH:
        raise BadRequest("The JSON is nested too deeply.", param=param or None)
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise BadRequest(
                "The text holds a NUL character or half a surrogate pair.",
                param=param or None,
            )
    elif isinstance(value, dict):
        for key, item in value.items():
            require_storable(key, param)
            require_storable(item, param or str(key), depth + 1)
    elif isinstance(value, list):
        for item in value:
            require_storable(item, param, depth + 1)


def storable(text: str) -> str:
    """The text without NUL, half surrogate pairs replaced by U+FFFD."""
    if not _UNSTORABLE.search(text):
        return text
    return _UNSTORABLE.sub(lambda m: "" if m[0] == "\x00" else "\ufffd", text)


def one_line(text: str, length: int) -> str:
    """Fit for a header or a row: no line breaks, no controls, not longer than that."""
    printable = "".join(each if each.isprintable() else " " for each in text)
    return " ".join(printable.split())[:length]


def shortened(text: str, length: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= length else text[: length - 1] + "…"


class TooDeep(ValueError):
    """A tree that others would refuse, and that recursion cannot walk."""


def storable_tree(
    value: Any, clean: Callable[[str], str] = storable, depth: int = 0
) -> Any:
    """A decoded JSON value that every reader takes, its texts and keys cleaned.

    Numbers that JSON has no word for become null. Raises TooDeep beyond MAX_DEPTH.
    """
    if depth > MAX_DEPTH:
        raise TooDeep
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {
            clean(key): storable_tree(item, clean, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [storable_tree(item, clean, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def digest_of(text: str) -> str:
    """SHA-256 of the text's UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
