"""Request bodies: JSON within a limit, and text that can be stored."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Any

import msgspec

from sessions_app.conf import conf
from sessions_app.domain.errors import BadRequest, TooLarge, UnknownField
from sessions_app.domain.text import require_storable

MAX_KEY_LENGTH = 255
_WITH_FILES = re.compile(r"/v1/sessions/[^/?]+/messages")


def body_limit(method: str, path: str) -> int:
    """How long a body may be: longer only where files may come along."""
    if method == "POST" and _WITH_FILES.fullmatch(path.partition("?")[0]):
        return max(conf().max_message_bytes, conf().max_body_bytes)
    return conf().max_body_bytes


def too_long(limit: int) -> TooLarge:
    """The refusal of a body."""
    return TooLarge(f"A request body has at most {limit} bytes.")


def require_known(
    names: Iterable[str],
    known: Container[str],
    *,
    what: str = "field",
    prefix: str = "",
) -> None:
    """Refuse the first name that is not a known one; ``prefix`` is where it stands."""
    for name in names:
        if name not in known:
            shown = name[:100]
            raise UnknownField(
                f"The {what} {shown!r} is not known.", param=f"{prefix}{shown}"
            )


def decode_object(body: bytes | bytearray, limit: int | None = None) -> dict[str, Any]:
    """A JSON object; an empty body is an empty one."""
    limit = limit or conf().max_body_bytes
    if len(body) > limit:
        raise too_long(limit)
    if not body or body.isspace():
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
