"""A provider's own message, as it may be shown to who asked for it."""

from __future__ import annotations

from functools import partial

import msgspec

from sessions_app.domain.text import storable, storable_tree
from sessions_app.providers.lenient_json import decode_leniently
from sessions_app.providers.redaction import redact_keys

MAX_RAW_BYTES = 65_536


def raw_message(body: bytes, api_key: str) -> bytes:
    """The JSON object again, fit for any reader; empty if it is none or too long.

    It is written anew, as providers are careless with UTF-8. The provider's key,
    and what looks like one, does not appear, should the provider repeat it.
    """
    if not body or len(body) > MAX_RAW_BYTES:
        return b""
    try:
        value = decode_leniently(body)
        if not isinstance(value, dict):
            return b""
        raw = msgspec.json.encode(storable_tree(value, partial(_without, api_key)))
    except (ValueError, OverflowError):
        return b""
    return raw if len(raw) <= MAX_RAW_BYTES else b""


def _without(api_key: str, text: str) -> str:
    # URLs stay: they are more often the answer's than the provider's.
    return redact_keys(storable(text), api_key)
