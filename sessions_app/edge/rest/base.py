"""What all REST endpoints share: credentials, JSON, strict fields, pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Any

from django.middleware.csrf import CsrfViewMiddleware
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from sessions_app.conf import conf
from sessions_app.domain.errors import (
    BadRequest,
    NotAllowed,
    TooLarge,
    Unauthorized,
    UnknownField,
)
from sessions_app.edge.auth import Principal, principal_of_token, principal_of_user
from sessions_app.edge.body import decode_object
from sessions_app.wire.payload import encode_json

MAX_PAGE = 100
DEFAULT_PAGE = 20


class JsonParser(BaseParser):
    """Reads any content type as JSON: there is nothing else to send here."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        limit = conf().max_body_bytes
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(f"A request body has at most {limit} bytes.")
        return decode_object(body)


class JsonRenderer(BaseRenderer):
    """Writes JSON; decimals are numbers, times are RFC 3339."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else encode_json(data)


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


class CredentialScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the bearer token in the schema."""

    target_class = "sessions_app.edge.rest.base.Credential"
    name = "bearer"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key (lk_…) or a visitor token (lv_…).",
        }


class Endpoint(APIView):
    """A view whose caller is a Principal with the scope ``sessions``."""

    scope = "sessions"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        principal = self.principal
        principal.require_scope(self.scope)
        if request.method not in ("GET", "HEAD"):
            principal.require_write()

    @property
    def principal(self) -> Principal:
        user: Any = self.request.user
        assert isinstance(user, Principal)
        return user


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                raise UnknownField(
                    f"The field {unknown[0][:100]!r} is not known.",
                    param=unknown[0][:100],
                )
        return super().to_internal_value(data)


class StrictCharField(serializers.CharField):
    """Text only: a number or a boolean is not text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


def read_body(serializer: type[StrictSerializer], request: Request) -> dict[str, Any]:
    """The validated fields of the body."""
    form = serializer(data=request.data)
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def read_query(request: Request, *known: str) -> dict[str, str]:
    """The query's parameters; unknown ones are refused."""
    unknown = sorted(set(request.query_params) - set(known))
    if unknown:
        raise UnknownField(
            f"The parameter {unknown[0][:100]!r} is not known.", param=unknown[0][:100]
        )
    query = {name: request.query_params[name] for name in request.query_params}
    for name, value in query.items():
        if "\x00" in value:
            raise BadRequest("The parameter holds a NUL character.", param=name)
    return query


def page_limit(query: Mapping[str, str]) -> int:
    """``limit``, 1 to 100."""
    text = query.get("limit", str(DEFAULT_PAGE))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_PAGE):
        raise BadRequest(f"limit is a number from 1 to {MAX_PAGE}.", param="limit")
    return int(text)


def page_of(
    rows: list[Any], limit: int, render: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """A page; ``rows`` holds one more than ``limit`` if there is a next one."""
    shown = rows[:limit]
    next_cursor = shown[-1].pk if len(rows) > limit else None
    return {"data": [render(row) for row in shown], "nextCursor": next_cursor}


