"""Files of messages, given back."""

from __future__ import annotations

from urllib.parse import quote

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from sessions_app import keepsakes
from sessions_app.domain.attachments import TEXT
from sessions_app.edge.rest.base import Endpoint
from sessions_app.models import Attachment

HARMLESS = {
    # Whatever it is: opened in a browser, it may do nothing.
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
}
# The browser may keep the bytes, but has to ask each time: they are shown to nobody who
# logs in after the visitor, and to nobody at all once the conversation is deleted.
CACHING = "private, no-cache"


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
        etag = f'"{file.pk}"'  # a file never changes
        response = get_conditional_response(request, etag=etag) or _download(file)
        response["ETag"] = etag
        response["Cache-Control"] = CACHING
        return response


def _download(file: Attachment) -> HttpResponse:
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
