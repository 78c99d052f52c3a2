"""What all REST endpoints share: the caller, strict fields, pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from sessions_app.domain.errors import BadRequest, UnknownField
from sessions_app.edge.auth import Principal

MAX_PAGE = 100
DEFAULT_PAGE = 20


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
