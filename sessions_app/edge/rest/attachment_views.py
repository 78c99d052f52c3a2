"""Files of messages, given back."""

from __future__ import annotations

from urllib.parse import quote

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from sessions_app import keepsakes
from sessions_app.domain.attachments import TEXT
from sessions_app.edge.rest.base import Endpoint

HARMLESS = {
    # Whatever it is: opened in a browser, it may do nothing.
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}


class AttachmentEndpoint(Endpoint):
    """One file."""

    @extend_schema(
        "getAttachment", responses={(200, "application/octet-stream"): bytes}
    )
    def get(
        self, request: Request, session_id: str, attachment_id: str
    ) -> HttpResponse:
        """Download a file that came with a message."""
        file = keepsakes.get_attachment(
            self.principal.caller, session_id, attachment_id
        )
        is_text = file.media_type == TEXT
        name = quote(file.name, safe="")
        return HttpResponse(
            bytes(file.content),
            content_type=f"{TEXT}; charset=utf-8" if is_text else file.media_type,
            headers={
                **HARMLESS,
                "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            },
        )
