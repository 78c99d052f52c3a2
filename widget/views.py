"""The script, and what it asks for first."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from sessions_app import service
from sessions_app.conf import conf
from sessions_app.domain.errors import ForbiddenOrigin, NotAllowed, NotFound
from sessions_app.domain.text import require_storable
from sessions_app.edge.pace import Act, address_subject, take
from sessions_app.edge.plain import read_only
from sessions_app.edge.rest.base import (
    Endpoint,
    StrictCharField,
    StrictSerializer,
    address_of,
    read_body,
)
from sessions_app.edge.rest.media import JsonAlways
from sessions_app.edge.rest.shapes import SessionShape, session_object
from sessions_app.erasure import erase
from widget import tokens
from widget.arrival import arrive
from widget.config import ConfigShape, config_of
from widget.known import known_embeds
from widget.models import Embed
from widget.origins import is_origin_listed

SCRIPT = "widget/widget.js"
SCRIPT_AGE_S = 300
CONFIG_AGE_S = 60
NO_EMBED = "There is no such embed."


@lru_cache(maxsize=1)
def _script() -> tuple[bytes, str]:
    path = finders.find(SCRIPT)
    assert isinstance(path, str)  # a system check looks for it at start-up
    body = Path(path).read_bytes()
    return body, f'"{hashlib.sha256(body).hexdigest()[:20]}"'


@read_only
def script(request: HttpRequest) -> HttpResponse:
    """``/widget.js``: all that a host page loads."""
    body, etag = _script()
    whole = HttpResponse(body, content_type="text/javascript; charset=utf-8")
    response = get_conditional_response(request, etag=etag, response=whole) or whole
    response["ETag"] = etag
    response["Cache-Control"] = f"public, max-age={SCRIPT_AGE_S}"
    response["Access-Control-Allow-Origin"] = "*"
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


class IdentityBody(StrictSerializer):
    token = StrictCharField(
        max_length=8192,
        required=False,
        help_text="A JWT (HS256, `exp` within 24 hours, `sub` the user's id), signed"
        " with the embed's secret; or leave it out and write the other two.",
    )
    userId = StrictCharField(max_length=200, required=False)
    hash = StrictCharField(
        max_length=8192,
        required=False,
        help_text="HMAC-SHA256 of `userId` with the embed's secret, in hex; or a JWT as"
        " above, whose `sub` is `userId`.",
    )


class ProofBody(StrictSerializer):
    challenge = StrictCharField(max_length=500)
    solution = StrictCharField(max_length=32)


class BootstrapBody(StrictSerializer):
    key = StrictCharField(max_length=64)
    visitor = StrictCharField(max_length=4096, required=False, allow_blank=True)
    identity = IdentityBody(required=False)
    proof = ProofBody(
        required=False,
        help_text="The answer to `proof_required`: a `solution` for which SHA-256 of"
        " `challenge.solution` begins with `difficulty` zero bits.",
    )


class BootstrapShape(serializers.Serializer[Any]):
    visitorToken = serializers.CharField()
    expiresAt = serializers.DateTimeField()
    session = SessionShape(allow_null=True)
    config = ConfigShape()


class Bootstrap(APIView):
    """A visitor token for a browser on an allowed origin."""

    authentication_classes = ()
    permission_classes = ()
    content_negotiation_class = JsonAlways

    @extend_schema(
        "bootstrapWidget", request=BootstrapBody, responses=BootstrapShape, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Begin or renew a visitor; ``visitor`` is the older token."""
        # First of all: what is refused below costs time, too.
        take(Act.BOOTSTRAP, address_subject(address_of(request)))
        body = read_body(BootstrapBody, request)
        embed = _embed_of(body["key"])
        if not is_origin_listed(request.headers.get("Origin", ""), embed.origins):
            raise ForbiddenOrigin()
        claim = arrive(embed, body)
        caller = tokens.caller_of(embed, claim)
        latest = service.list_sessions(
            caller, limit=1, after=None, agent=embed.agent.slug, status=None, user=None
        )
        current = latest[0] if latest and not latest[0].is_closed else None
        answer = {
            "visitorToken": tokens.issue(claim),
            "expiresAt": datetime.now(UTC) + timedelta(seconds=conf().visitor_token_s),
            "session": session_object(current) if current else None,
            "config": config_of(embed),
        }
        return Response(answer, headers={"Cache-Control": "no-store"})


class VisitorEndpoint(Endpoint):
    """The visitor themselves."""

    @extend_schema("deleteVisitor", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Delete all sessions of this visitor; what runs is ended first.

        The visitor's tokens of before are good for nothing then.
        """
        if self.principal.kind != "visitor":
            raise NotAllowed("Only visitors delete all that is theirs.")
        name = self.principal.caller.name
        erase(Q(owner=name), name)
        return Response(status=204)


class Config(APIView):
    """How the launcher looks, asked for before anybody opens it."""

    authentication_classes = ()
    permission_classes = ()
    content_negotiation_class = JsonAlways

    @extend_schema(
        "getWidgetConfig",
        parameters=[
            OpenApiParameter(
                "key", str, required=True, description="The embed's public key."
            )
        ],
        responses=ConfigShape,
        auth=[],
    )
    def get(self, request: Request) -> Response:
        """The looks and words of an embed; no visitor is begun.

        An embed has no ceiling here: it would let anybody take the looks of a busy
        site away. The answer comes from memory instead, and may be as often as it is.
        """
        take(Act.CONFIG, address_subject(address_of(request)))
        key = request.query_params.get("key", "")
        require_storable(key)
        embed = known_embeds.get().get(key)
        if embed is None:
            raise NotFound(NO_EMBED)
        # A page of Lantern's own sends no Origin with a GET.
        origin = request.headers.get("Origin")
        if origin is not None and not is_origin_listed(origin, embed.origins):
            raise ForbiddenOrigin()
        caching = f"public, max-age={CONFIG_AGE_S}, stale-while-revalidate=86400"
        return Response(config_of(embed), headers={"Cache-Control": caching})


def _embed_of(key: str) -> Embed:
    embed = Embed.objects.select_related("agent").filter(key=key).first()
    if embed is None or not embed.is_enabled:
        raise NotFound(NO_EMBED)
    return embed
