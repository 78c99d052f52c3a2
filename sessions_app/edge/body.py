"""Request bodies: JSON within a limit, and text that can be stored."""

from __future__ import annotations

from typing import Any

import msgspec

from sessions_app.conf import conf
from sessions_app.domain.errors import BadRequest, TooLarge
from sessions_app.domain.text import require_storable

MAX_KEY_LENGTH = 255


def decode_object(body: bytes) -> dict[str, Any]:
    """A JSON object; an empty body is an empty one."""
    if len(body) > conf().max_body_bytes:
        raise TooLarge(f"A request body has at most {conf().max_body_bytes} bytes.")
    if not body.strip():
        return {}
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest("The body is not valid JSON.") from error
    except RecursionError as error:
        raise BadRequest("The body is nested too deeply.") from error
    if not isinstance(value, dict):
        raise BadRequest("The body must be a JSON object.")
    require_storable(value)
    return value


def idempotency_key(value: str | None) -> str:
    """The header's value, empty if there is none; BadRequest if it is malformed."""
    if value is None:
        return ""
    if not 1 <= len(value) <= MAX_KEY_LENGTH or not (
        value.isascii() and value.isprintable()
    ):
        raise BadRequest(
            "An Idempotency-Key has 1 to 255 printable ASCII characters.",
            param="Idempotency-Key",
        )
    return value
