"""Lists of texts in rows that anybody may have written: the form, and what is of it."""

from __future__ import annotations

from sessions_app.domain.errors import BadRequest
from sessions_app.domain.text import require_storable


def texts_fault(value: object) -> str:
    """Why the value is no list of texts, in a sentence; empty if it is one."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return 'must be a list of texts, such as ["one", "two"].'
    try:
        require_storable(value)
    except BadRequest:
        return "holds a NUL character or half a surrogate pair."
    return ""


def texts_of(value: object) -> tuple[str, ...]:
    """The texts of a list; nothing of a value that is no list, such as a text."""
    items = value if isinstance(value, list | tuple) else ()
    return tuple(each for each in items if isinstance(each, str))
