"""A provider's own message, as it may be shown to who asked for it."""

from __future__ import annotations

from typing import Any

import msgspec

from sessions_app.domain.text import MAX_DEPTH, storable
from sessions_app.providers.lenient_json import decode_leniently

MAX_RAW_BYTES = 65_536


def raw_message(body: bytes, api_key: str) -> bytes:
    """The JSON object again, fit for any reader; empty if it is none or too long.

    It is written anew, as providers are careless with UTF-8. The provider's key does
    not appear, should the provider repeat it.
    """
    if not body or len(body) > MAX_RAW_BYTES:
        return b""
    try:
        value = decode_leniently(body)
        if not isinstance(value, dict):
            return b""
        raw = msgspec.json.encode(_readable(value, api_key, 0))
    except (ValueError, OverflowError):
        return b""
    return raw if len(raw) <= MAX_RAW_BYTES else b""


def _readable(value: Any, api_key: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return _without(api_key, value)
    if isinstance(value, dict):
        return {
            _without(api_key, key): _readable(item, api_key, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_readable(item, api_key, depth + 1) for item in value]
    return value


def _without(api_key: str, text: str) -> str:
    text = storable(text)
    return text.replace(api_key, "[key]") if api_key else text
