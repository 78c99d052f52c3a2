"""The OpenAPI description: parameters, and what the generator cannot see."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter

from sessions_app.wire.lantern_v1_server import socket_schema
from sessions_app.wire.payload import encode_json

PAGE = [
    OpenApiParameter("limit", int, description="1 to 100, 20 if left out."),
    OpenApiParameter("after", str, description="The nextCursor of the page before."),
]
FILTERS = [
    OpenApiParameter("agent", str, description="The slug of an agent."),
    OpenApiParameter(
        "status", str, description="idle, running, awaiting_tools, closed."
    ),
    OpenApiParameter(
        "user", str, description="The user that the session was made for."
    ),
]
IDEMPOTENCY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key and body again within 24 h give the same turn.",
)

ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "requestId"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "param": {"type": "string"},
                "requestId": {"type": "string"},
            },
            "additionalProperties": True,
        }
    },
}
EVENT_STREAM = {"text/event-stream": {"schema": {"type": "string"}}}


class CredentialScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the bearer token in the schema."""

    target_class = "sessions_app.edge.rest.authentication.Credential"
    name = "bearer"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key (lk_…) or a visitor token (lv_…).",
        }


def add_event_stream(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Describe ``GET /v1/sessions/{id}/events``."""
    result["paths"]["/v1/sessions/{session_id}/events"] = {
        "get": {
            "operationId": "streamEvents",
            "summary": "The event stream",
            "description": (
                "Server-sent events of the session. Reconnect with Last-Event-ID, or"
                " pass the cursor of a posted message as `after`, and nothing is lost"
                " or repeated. Without a cursor the stream begins at the running turn."
            ),
            "tags": ["v1"],
            "security": [{"bearer": []}],
            "parameters": [
                _parameter("session_id", "path", "The session.", is_required=True),
                _parameter("after", "query", "Events after this id, such as 3-0."),
                _parameter("ticket", "query", "A stream ticket, for EventSource."),
                _parameter("Last-Event-ID", "header", "The last id that was seen."),
            ],
            "responses": {
                "200": {
                    "description": "Events until the client goes away.",
                    "content": EVENT_STREAM,
                }
            },
        }
    }
    post = result["paths"]["/v1/sessions/{session_id}/messages"]["post"]
    post["responses"]["200"] = {
        "description": "With `Accept: text/event-stream`: the events of this turn.",
        "content": EVENT_STREAM,
    }
    return result


def add_errors(
    result: dict[str, Any], generator: object, request: object, public: bool
) -> dict[str, Any]:
    """Every call may be refused, always in one form."""
    result["components"]["schemas"]["Error"] = ERROR_SCHEMA
    refusal = {
        "description": "A refusal; its status fits its code.",
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}
        },
    }
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["default"] = refusal
    return result


def _parameter(
    name: str, place: str, description: str, *, is_required: bool = False
) -> dict[str, Any]:
    return {
        "name": name,
        "in": place,
        "required": is_required,
        "description": description,
        "schema": {"type": "string"},
    }


@require_safe
def socket_schema_page(request: HttpRequest) -> HttpResponse:
    """JSON Schema of the socket's messages; open, like the OpenAPI description."""
    return HttpResponse(
        encode_json(socket_schema()), content_type="application/schema+json"
    )
