"""The front page, the health of the server, and errors outside the API."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render as render_page
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from prometheus_client import CONTENT_TYPE_LATEST

from lantern_site.metrics import render, require_reader
from lantern_site.readiness import ready_parts
from sessions_app.domain.errors import BadRequest, LanternError, NotAllowed, NotFound
from sessions_app.edge.errors import WrongMethod
from sessions_app.edge.plain import error_response, read_only
from sessions_app.lifecycle import lifecycle
from sessions_app.store import catalog
from widget.known import known_embeds
from widget.tokens import KEY_OPENS_NOTHING, brings_key


@read_only
def front_page(request: HttpRequest) -> HttpResponse:
    """A page with the widget on it, to see that everything works."""
    embed = next(iter(known_embeds.get().values()), None)
    return render_page(request, "front_page.html", {"embed": embed})


@read_only
def health(request: HttpRequest) -> HttpResponse:
    """Liveness, and the providers that are set up; open to everybody."""
    try:
        names = catalog.provider_names.get()
        providers = {name: {"configured": True} for name in names}
    except DatabaseError:
        providers = {}
    return JsonResponse({"status": "ok", "providers": providers})


async def ready(request: HttpRequest) -> HttpResponse:
    """Whether requests can be served; 503 names what is missing."""
    if request.method not in ("GET", "HEAD"):
        return error_response(WrongMethod("GET, HEAD"))
    parts = await ready_parts()
    if lifecycle.is_draining:
        status = "draining"
    else:
        status = "ready" if all(parts.values()) else "unavailable"
    answer = JsonResponse({"status": status, **parts})
    if status != "ready":
        answer.status_code = 503
        answer["Retry-After"] = "5"
    return answer


@read_only
def metrics(request: HttpRequest) -> HttpResponse:
    """Counts and gauges for Prometheus."""
    try:
        require_reader(request)
    except LanternError as error:
        return error_response(error)
    return HttpResponse(render(), content_type=CONTENT_TYPE_LATEST)


@lru_cache(maxsize=2)
def _description(is_json: bool) -> bytes:
    """The OpenAPI description; to make it takes the CPU of many requests."""
    generator: Any = SchemaGenerator
    content = generator().get_schema(request=None, public=True)
    renderer = OpenApiJsonRenderer() if is_json else OpenApiYamlRenderer()
    return bytes(renderer.render(content, renderer_context={}))


@read_only
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI description, as YAML or, if the client would rather, JSON."""
    is_json = request.GET.get("format") == "json" or not (
        request.accepts(OpenApiYamlRenderer.media_type)
    )
    kind = OpenApiJsonRenderer if is_json else OpenApiYamlRenderer
    return HttpResponse(
        _description(is_json),
        content_type=f"{kind.media_type}; charset=utf-8",
        headers={"Vary": "Accept"},
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404 in the API's own form.

    Whoever writes a public key where its client wants an API key is told so, also under
    paths that other servers have.
    """
    if request.path.startswith("/v1/") and brings_key(request.headers):
        return error_response(NotAllowed(KEY_OPENS_NOTHING))
    return error_response(NotFound())


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400 in the API's own form."""
    return error_response(BadRequest())


def server_error(request: HttpRequest) -> HttpResponse:
    """500 in the API's own form."""
    return error_response(LanternError())
