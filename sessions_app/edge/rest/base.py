"""What all REST endpoints share: the caller, strict fields, pages."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from sessions_app.domain.errors import BadRequest
from sessions_app.edge.auth import Principal, Right
from sessions_app.edge.body import decode_object, require_known
from sessions_app.edge.rest.media import JsonAlways

MAX_PAGE = 100
DEFAULT_PAGE = 20
_LIMIT = re.compile("[1-9][0-9]{0,2}")


class Endpoint(APIView):
    """A view whose caller is a Principal with the scope ``sessions``."""

    scope = "sessions"
    rights: Mapping[str, Right] = {}
    """What a method takes where that is not to change a session."""
    parameters: tuple[str, ...] = ()
    """What a GET may ask for in its query; nothing else takes any."""
    content_negotiation_class = JsonAlways

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        principal = self.principal
        principal.require_scope(self.scope)
        is_read = request.method in ("GET", "HEAD")
        if not is_read:
            principal.require_write(self.rights.get(request.method or "", "change"))
        self.query = read_query(request, *(self.parameters if is_read else ()))

    def finalize_response(
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> Any:
        response.headers.setdefault("Cache-Control", "no-store")
        return super().finalize_response(request, response, *args, **kwargs)

    @property
    def principal(self) -> Principal:
        user: Any = self.request.user
        assert isinstance(user, Principal)
        return user


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            require_known(sorted(data), self.fields)
        return super().to_internal_value(data)


class StrictCharField(serializers.CharField):
    """Text only: a number or a boolean is not text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


def address_of(request: Request) -> str | None:
    """The address of the peer, or of the visitor behind trusted proxies."""
    address: str | None = request.META.get("REMOTE_ADDR")
    return address


def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of the body, whatever its content type and however sent.

    The framework's own ``data`` takes a body without Content-Length for an empty one.
    """
    return decode_object(request._request.body)


def read_body(serializer: type[StrictSerializer], request: Request) -> dict[str, Any]:
    """The validated fields of the body."""
    return validated(serializer, body_of(request))


def validated(
    serializer: type[StrictSerializer], data: Mapping[str, Any]
) -> dict[str, Any]:
    """The fields of a body, or ValidationError.

    Each thread keeps its serializers: to make one copies all its fields, which takes
    longer than to validate, and they hold nothing of what they have validated.
    """
    form = _kept.forms.get(serializer)
    if form is None:
        form = _kept.forms[serializer] = serializer()
    return dict(form.run_validation(data))


class _Kept(threading.local):
    def __init__(self) -> None:
        self.forms: dict[type[StrictSerializer], StrictSerializer] = {}


_kept = _Kept()


def read_query(request: Request, *known: str) -> dict[str, str]:
    """The query's parameters; unknown ones are refused."""
    require_known(sorted(request.query_params), known, what="parameter")
    query = {name: request.query_params[name] for name in request.query_params}
    for name, value in query.items():
        if "\x00" in value:
            raise BadRequest("The parameter holds a NUL character.", param=name)
    return query


def page_limit(query: Mapping[str, str]) -> int:
    """``limit``, 1 to 100."""
    text = query.get("limit", str(DEFAULT_PAGE))
    if not _LIMIT.fullmatch(text) or int(text) > MAX_PAGE:
        raise BadRequest(f"limit is a number from 1 to {MAX_PAGE}.", param="limit")
    return int(text)


def page_of(
    rows: list[Any], limit: int, render: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    """A page; ``rows`` holds one more than ``limit`` if there is a next one."""
    shown = rows[:limit]
    next_cursor = shown[-1].pk if len(rows) > limit else None
    return {"data": [render(row) for row in shown], "nextCursor": next_cursor}
