"""Plain Django views that refuse as the API does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse

from sessions_app.domain.errors import LanternError
from sessions_app.edge.errors import WrongMethod, error_body, error_headers
from sessions_app.wire.payload import encode_json

View = Callable[[HttpRequest], HttpResponse]


def error_response(error: LanternError) -> HttpResponse:
    """The error's status, headers and JSON."""
    return HttpResponse(
        encode_json(error_body(error)),
        status=error.http_status,
        content_type="application/json",
        headers=error_headers(error),
    )


def read_only(view: View) -> View:
    """Lets GET and HEAD through."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return error_response(WrongMethod("GET, HEAD"))
        return view(request)

    return guarded
