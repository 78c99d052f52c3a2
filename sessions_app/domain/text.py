"""Which text can be stored and sent everywhere alike."""

from __future__ import annotations

import hashlib
import re

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


def digest_of(text: str) -> str:
    """SHA-256 of the text's UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
