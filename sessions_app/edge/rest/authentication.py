"""Credentials of REST requests."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.middleware.csrf import CsrfViewMiddleware
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from sessions_app.domain.errors import NotAllowed, Unauthorized
from sessions_app.edge.auth import Principal, principal_of_token, principal_of_user


class Credential(BaseAuthentication):
    """A bearer token, or the staff cookie with its CSRF token."""

    def authenticate(self, request: Request) -> tuple[Principal, None] | None:
        header = request.headers.get("Authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            if scheme.lower() != "bearer" or not token:
                raise Unauthorized("Write: Authorization: Bearer and the token.")
            return principal_of_token(token, request.headers.get("Origin")), None
        user = getattr(request._request, "user", None)
        if user is None or not user.is_authenticated:
            return None
        _require_csrf(request._request)
        return principal_of_user(user), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class _CsrfCheck(CsrfViewMiddleware):
    def _reject(self, request: Any, reason: str) -> Any:
        return reason


def _require_csrf(request: HttpRequest) -> None:
    # The token comes in the header; looked for in a form, it would spend the body.
    request.POST = QueryDict()
    check = _CsrfCheck(_nothing)
    check.process_request(request)
    if check.process_view(request, _nothing, (), {}):
        raise NotAllowed("The CSRF token is missing or wrong.")


def _nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse()
