"""Sessions, messages and turns over REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app import service
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.states import SessionStatus
from sessions_app.edge.auth import TICKET_LIFE_S, Right, issue_ticket
from sessions_app.edge.posting import (
    make_session,
    message_of,
    require_message_pace,
)
from sessions_app.edge.rest import bodies, shapes
from sessions_app.edge.rest.base import (
    Endpoint,
    address_of,
    body_of,
    page_limit,
    page_of,
    read_body,
)
from sessions_app.edge.rest.schema import FILTERS, IDEMPOTENCY, PAGE
from sessions_app.edge.tool_fields import (
    approvals_of,
    only_field,
    tool_results_of,
)


class SessionsEndpoint(Endpoint):
    """All sessions of the caller."""

    rights: Mapping[str, Right] = {"POST": "add"}
    parameters = ("limit", "after", "agent", "status", "user")

    @extend_schema(
        "createSession",
        request=bodies.NewSessionBody,
        responses={201: shapes.SessionShape},
    )
    def post(self, request: Request) -> Response:
        """Make a session."""
        session = make_session(self.principal, body_of(request), address_of(request))
        return Response(shapes.session_object(session), status=201)

    @extend_schema(
        "listSessions", parameters=PAGE + FILTERS, responses=shapes.SessionPage
    )
    def get(self, request: Request) -> Response:
        """List sessions, newest first."""
        query = self.query
        limit = page_limit(query)
        status = query.get("status")
        if status is not None and status not in set(SessionStatus):
            raise BadRequest("There is no such status.", param="status")
        rows = service.list_sessions(
            self.principal.caller,
            limit=limit,
            after=query.get("after"),
            agent=query.get("agent"),
            status=SessionStatus(status) if status else None,
            user=query.get("user"),
        )
        return Response(page_of(rows, limit, shapes.session_object))


class SessionEndpoint(Endpoint):
    """One session."""

    rights: Mapping[str, Right] = {"DELETE": "delete"}

    @extend_schema("getSession", responses=shapes.SessionShape)
    def get(self, request: Request, session_id: str) -> Response:
        """Read a session."""
        session = service.get_session(self.principal.caller, session_id)
        return Response(shapes.session_object(session))

    @extend_schema(
        "updateSession",
        request=bodies.SessionChangesBody,
        responses=shapes.SessionShape,
    )
    def patch(self, request: Request, session_id: str) -> Response:
        """Change title or metadata."""
        changes = read_body(bodies.SessionChangesBody, request)
        session = service.update_session(self.principal.caller, session_id, changes)
        return Response(shapes.session_object(session))

    @extend_schema("deleteSession", responses={204: None})
    def delete(self, request: Request, session_id: str) -> Response:
        """Delete the session and everything below it."""
        service.delete_session(self.principal.caller, session_id)
        return Response(status=204)


class MessagesEndpoint(Endpoint):
    """The messages of a session."""

    parameters = ("limit", "after")

    @extend_schema(
        "postMessage",
        parameters=[IDEMPOTENCY],
        request=bodies.NewMessageBody,
        responses={202: shapes.PostedShape},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Post a message: its turn is queued and will end exactly once."""
        require_message_pace(self.principal, session_id, address_of(request))
        message = message_of(
            body_of(request), request.headers.get("Idempotency-Key"), has_content=True
        )
        return self._post(session_id, message)

    @extend_schema("listMessages", parameters=PAGE, responses=shapes.MessagePage)
    def get(self, request: Request, session_id: str) -> Response:
        """Read the transcript, oldest first."""
        query = self.query
        limit = page_limit(query)
        rows = service.read_transcript(
            self.principal.caller, session_id, limit=limit, after=query.get("after")
        )
        return Response(page_of(rows, limit, shapes.message_object))

    def _post(self, session_id: str, message: service.NewMessage) -> Response:
        posted = service.post_message(self.principal.caller, session_id, message)
        return shapes.posted_response(posted)


class RegenerateEndpoint(MessagesEndpoint):
    """Another answer to the last message."""

    http_method_names = ["post"]

    @extend_schema(
        "regenerate",
        parameters=[IDEMPOTENCY],
        request=bodies.TurnOptionsBody,
        responses={202: shapes.PostedShape},
    )
    def post(self, request: Request, session_id: str) -> Response:
        """Answer the last user message again; the older answer is kept, superseded."""
        require_message_pace(self.principal, session_id, address_of(request))
        message = message_of(
            body_of(request), request.headers.get("Idempotency-Key"), has_content=False
        )
        return self._post(session_id, message)


class TurnEndpoint(Endpoint):
    """One turn."""

    @extend_schema("getTurn", responses=shapes.TurnShape)
    def get(self, request: Request, session_id: str, turn_id: str) -> Response:
        """Read a turn: status, text, usage, attempts, digest.

        To visitors it says nothing of providers, models and prices.
        """
        turn = service.get_turn(self.principal.caller, session_id, turn_id)
        return Response(shapes.turn_object(turn, self.principal.kind))


class CancelEndpoint(Endpoint):
    """Stopping a turn."""

    @extend_schema(
        "cancelTurn", request=bodies.EmptyBody, responses={202: shapes.TurnShape}
    )
    def post(self, request: Request, session_id: str, turn_id: str) -> Response:
        """Stop the turn; what was streamed is kept."""
        read_body(bodies.EmptyBody, request)
        turn = service.cancel_turn(self.principal.caller, session_id, turn_id)
        return Response(shapes.turn_object(turn, self.principal.kind), status=202)


class ToolResultsEndpoint(Endpoint):
    """Results of the client's own tools."""

    @extend_schema(
        "sendToolResults",
        request=bodies.ToolResultsBody,
        responses={202: shapes.TurnShape},
    )
    def post(self, request: Request, session_id: str, turn_id: str) -> Response:
        """Send the results of all calls that the turn waits for; it goes on then."""
        body = only_field(body_of(request), "results")
        turn = service.send_tool_results(
            self.principal.caller,
            session_id,
            turn_id,
            tool_results_of(body, "results"),
        )
        return Response(shapes.turn_object(turn, self.principal.kind), status=202)


class ApprovalsEndpoint(Endpoint):
    """A yes or no to calls that wait for one."""

    @extend_schema(
        "approveToolCalls",
        request=bodies.ApprovalsBody,
        responses={202: shapes.TurnShape},
    )
    def post(self, request: Request, session_id: str, turn_id: str) -> Response:
        """Allow or decline calls; the turn goes on once none waits."""
        body = only_field(body_of(request), "approvals")
        turn = service.approve_calls(
            self.principal.caller, session_id, turn_id, approvals_of(body, "approvals")
        )
        return Response(shapes.turn_object(turn, self.principal.kind), status=202)


class FeedbackEndpoint(Endpoint):
    """What a reader thought of a reply."""

    @extend_schema("rateTurn", request=bodies.FeedbackBody, responses=shapes.TurnShape)
    def post(self, request: Request, session_id: str, turn_id: str) -> Response:
        """Rate a turn."""
        body = read_body(bodies.FeedbackBody, request)
        turn = service.rate_turn(
            self.principal.caller,
            session_id,
            turn_id,
            body["rating"],
            body.get("comment", ""),
        )
        return Response(shapes.turn_object(turn, self.principal.kind))


class TicketEndpoint(Endpoint):
    """Tickets for EventSource, which can set no header."""

    @extend_schema(
        "createTicket", request=bodies.EmptyBody, responses={201: shapes.TicketShape}
    )
    def post(self, request: Request, session_id: str) -> Response:
        """A ticket that opens this session's events for a minute."""
        read_body(bodies.EmptyBody, request)
        service.get_session(self.principal.caller, session_id)
        ticket: dict[str, Any] = {
            "ticket": issue_ticket(self.principal, session_id),
            "expiresInS": TICKET_LIFE_S,
        }
        return Response(ticket, status=201)
