"""JSON from providers that are careless with it."""

from __future__ import annotations

import json

import msgspec

# The depth at which the JSON parsers give up with RecursionError.
UNREADABLE = (ValueError, RecursionError)


def decode_leniently(body: bytes) -> object:
    """Any JSON; bad UTF-8 and half surrogate pairs become U+FFFD."""
    try:
        return msgspec.json.decode(body)
    except UNREADABLE:
        text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        value: object = json.loads(text, strict=False)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error
    return value
