"""Counts the requests that Django answers, by route and status."""

from __future__ import annotations

from collections.abc import Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from sessions_app.telemetry import counts

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@sync_and_async_middleware
def request_counter(get_response: Callable[[HttpRequest], object]) -> object:
    """The outermost middleware."""
    if iscoroutinefunction(get_response):

        async def count_async(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            _count(request, response.status_code)
            return response

        return count_async

    def count(request: HttpRequest) -> object:
        response = get_response(request)
        _count(request, response.status_code)  # type: ignore[attr-defined]
        return response

    return count


def _count(request: HttpRequest, status: int) -> None:
    # What a client makes up is no label: there would be as many as it likes.
    method = request.method if request.method in METHODS else "other"
    match = request.resolver_match
    route = f"/{match.route}" if match is not None else "unmatched"
    counts.requests[str(method), route, status] += 1
