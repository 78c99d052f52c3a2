"""A refusal as an ASGI response, before anything was streamed."""

from __future__ import annotations

from typing import Any

from sessions_app.domain.errors import LanternError
from sessions_app.edge.errors import error_body, error_headers
from sessions_app.wire.payload import encode_json

# A ticket may stand in the URL, so no answer may hand it on.
PRIVATE = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


async def refuse(send: Any, error: LanternError) -> None:
    """Send the error's status, headers and JSON."""
    headers = [
        (b"content-type", b"application/json"),
        (b"cache-control", b"no-store"),
        *PRIVATE,
    ]
    for name, text in error_headers(error).items():
        headers.append((name.lower().encode(), text.encode()))
    await send(
        {
            "type": "http.response.start",
            "status": error.http_status,
            "headers": headers,
        }
    )
    await send({"type": "http.response.body", "body": encode_json(error_body(error))})
