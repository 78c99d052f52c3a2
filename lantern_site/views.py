"""The front page, the health of the server, and errors outside the API."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from sessions_app.domain.errors import BadRequest, LanternError, NotFound
from sessions_app.edge.plain import error_response, read_only
from sessions_app.store import catalog
from widget.models import Embed


@read_only
def front_page(request: HttpRequest) -> HttpResponse:
    """A page with the widget on it, to see that everything works."""
    embed = Embed.objects.filter(is_enabled=True).order_by("pk").first()
    return render(request, "front_page.html", {"embed": embed})


@read_only
def health(request: HttpRequest) -> HttpResponse:
    """Liveness, and the providers that are set up; open to everybody."""
    try:
        providers = {p.name: {"configured": True} for p in catalog.enabled_providers()}
    except DatabaseError:
        providers = {}
    return JsonResponse({"status": "ok", "providers": providers})


@read_only
def ready(request: HttpRequest) -> HttpResponse:
    """Whether requests can be served; 503 names what is missing."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        answer = JsonResponse({"status": "unavailable", "database": False}, status=503)
        answer["Retry-After"] = "5"
        return answer
    return JsonResponse({"status": "ready", "database": True})


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 in the API's own form."""
    return error_response(NotFound())


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 in the API's own form."""
    return error_response(BadRequest())


def server_error(request: HttpRequest) -> HttpResponse:
    """500 in the API's own form."""
    return error_response(LanternError())
