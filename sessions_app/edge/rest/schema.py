"""What the schema generator cannot see: the event stream is not a Django view."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


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
            "operationId": "v1_sessions_events",
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
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                }
            },
        }
    }
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
