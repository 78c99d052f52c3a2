"""JSON answers and refusals as ASGI messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessions_app.domain.errors import LanternError
from sessions_app.edge.errors import error_body, error_headers
from sessions_app.wire.payload import encode_json

Headers = Sequence[tuple[bytes, bytes]]

# A ticket may stand in the URL, so no answer may hand it on.
PRIVATE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


async def refuse(send: Any, error: LanternError) -> None:
    """Send the error's status, headers and JSON."""
    headers = [
        (name.lower().encode(), text.encode())
        for name, text in error_headers(error).items()
    ]
    await answer(send, error.http_status, headers, error_body(error))


async def answer(send: Any, status: int, headers: Headers, body: Any) -> None:
    """Send a JSON answer."""
    encoded = encode_json(body)
    common = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(encoded)),
        (b"cache-control", b"no-store"),
        *PRIVATE,
    ]
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*common, *headers],
        }
    )
    await send({"type": "http.response.body", "body": encoded})
