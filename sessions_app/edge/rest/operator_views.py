"""A person in the agent's place, over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app import service
from sessions_app.domain.errors import BadRequest, NotAllowed
from sessions_app.edge.body import idempotency_key
from sessions_app.edge.rest import bodies, shapes
from sessions_app.edge.rest.base import Endpoint, read_body
from sessions_app.edge.rest.schema import IDEMPOTENCY
from sessions_app.models.api_key import OPERATOR_SCOPE


class OperatorEndpoint(Endpoint):
    """Only staff, and keys that may speak for them."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.principal.kind == "visitor":
            raise NotAllowed("A visitor may not answer as an operator.")
        self.principal.require_scope(OPERATOR_SCOPE)

    def _name(self, given: str | None) -> str:
        name = (given or self.principal.name).strip()
        if not name:
            raise BadRequest("Say who answers.", param="name")
        return name


class TakeoverEndpoint(OperatorEndpoint):
    """Taking a session over from its agent, and giving it back."""

    @extend_schema(
        "takeOver", request=bodies.TakeoverBody, responses=shapes.SessionShape
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Stop the agent; from here on a person answers, under this name."""
        body = read_body(bodies.TakeoverBody, request)
        name = self._name(body.get("name"))
        session = service.take_over(self.principal.caller, session_id, name)
        return Response(shapes.session_object(session))

    @extend_schema("giveBack", responses=shapes.SessionShape)
    def delete(self, request: Request, session_id: str) -> Response:
        """Let the agent answer again."""
        session = service.give_back(self.principal.caller, session_id)
        return Response(shapes.session_object(session))


class OperatorRepliesEndpoint(OperatorEndpoint):
    """What a person answers."""

    @extend_schema(
        "replyAsOperator",
        parameters=[IDEMPOTENCY],
        request=bodies.OperatorReplyBody,
        responses={202: shapes.PostedShape},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Answer as a person, which takes the session over; no model is asked."""
        body = read_body(bodies.OperatorReplyBody, request)
        message = service.NewMessage(
            content=body["content"],
            idempotency_key=idempotency_key(request.headers.get("Idempotency-Key")),
        )
        posted = service.reply_as_operator(
            self.principal.caller, session_id, self._name(body.get("name")), message
        )
        return shapes.posted_response(posted)
