"""Credentials of REST requests."""

from __future__ import annotations

from typing import Any

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
        _require_csrf(request)
        return principal_of_user(user), None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class _CsrfCheck(CsrfViewMiddleware):
    def _reject(self, request: Any, reason: str) -> Any:
        return reason


def _require_csrf(request: Request) -> None:
    check = _CsrfCheck(lambda _: None)  # type: ignore[arg-type, return-value]
    check.process_request(request._request)
    if check.process_view(request._request, lambda _: None, (), {}):  # type: ignore[arg-type, return-value]
        raise NotAllowed("The CSRF token is missing or wrong.")
