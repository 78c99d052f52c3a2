"""The JSON of sessions, messages and turns as clients get it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.response import Response

from sessions_app.domain.outcome import CallStatus
from sessions_app.domain.states import SessionStatus, TurnState
from sessions_app.domain.text import one_line
from sessions_app.edge.auth import Kind
from sessions_app.models import Attempt, Message, Session, ToolCall, Turn
from sessions_app.store.posting import PostedTurn
from sessions_app.store.replay import reply_text, usage_of
from sessions_app.wire.payload import event_object

MAX_WORDS = 80


class SessionShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    agent = serializers.CharField()
    title = serializers.CharField()
    status = serializers.ChoiceField(choices=[s.value for s in SessionStatus])
    user = serializers.CharField()
    metadata = serializers.DictField()
    operator = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()
    firstWords = serializers.CharField(
        required=False,
        allow_null=True,
        help_text="In lists: how the user began, on one line.",
    )


class FileShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    mediaType = serializers.CharField()
    size = serializers.IntegerField()


class MessageShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    role = serializers.CharField()
    content = serializers.CharField()
    turnId = serializers.CharField()
    createdAt = serializers.DateTimeField()
    attachments = FileShape(many=True, required=False)
    superseded = serializers.BooleanField(required=False)
    operator = serializers.CharField(required=False)


class UsageShape(serializers.Serializer[Any]):
    tokensIn = serializers.IntegerField()
    tokensOut = serializers.IntegerField()
    costUsd = serializers.FloatField(allow_null=True)
    cachedTokensIn = serializers.IntegerField()
    reasoningTokens = serializers.IntegerField()
    estimated = serializers.BooleanField()


class BillShape(UsageShape):
    costUsdAtLeast = serializers.FloatField(
        required=False, help_text="What is known of the cost; visitors do not get it."
    )
    unpricedAttempts = serializers.IntegerField(
        required=False, help_text="What the bill lacks; visitors do not get it."
    )


class PriceShape(serializers.Serializer[Any]):
    model = serializers.CharField()
    input = serializers.CharField()
    output = serializers.CharField()
    cachedInput = serializers.CharField(required=False)
    cacheWrite = serializers.CharField(required=False)
    origin = serializers.CharField()


class AttemptShape(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    round = serializers.IntegerField()
    provider = serializers.CharField()
    model = serializers.CharField()
    status = serializers.ChoiceField(choices=["completed", "failed", "cancelled"])
    stopReason = serializers.CharField(allow_null=True)
    errorCode = serializers.CharField(allow_null=True)
    errorStatus = serializers.IntegerField(allow_null=True)
    ttftMs = serializers.IntegerField(allow_null=True)
    durationMs = serializers.IntegerField()
    tokensIn = serializers.IntegerField()
    tokensOut = serializers.IntegerField()
    cachedTokensIn = serializers.IntegerField()
    cacheWriteTokensIn = serializers.IntegerField()
    reasoningTokens = serializers.IntegerField()
    costUsd = serializers.FloatField(allow_null=True)
    price = PriceShape(allow_null=True)
    estimated = serializers.BooleanField()


class TurnShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    sessionId = serializers.CharField()
    status = serializers.ChoiceField(choices=[s.value for s in TurnState])
    text = serializers.CharField(allow_null=True)
    stopReason = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    error = serializers.DictField(allow_null=True)
    usage = BillShape()
    rounds = serializers.IntegerField()
    attempts = AttemptShape(
        many=True, help_text="What was asked of which provider; empty for visitors."
    )
    toolCalls = serializers.ListField(child=serializers.DictField())
    feedback = serializers.DictField(allow_null=True)
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    endedAt = serializers.DateTimeField(allow_null=True)


class PostedShape(serializers.Serializer[Any]):
    sessionId = serializers.CharField()
    turnId = serializers.CharField()
    cursor = serializers.CharField()


class TicketShape(serializers.Serializer[Any]):
    ticket = serializers.CharField()
    expiresInS = serializers.IntegerField()


class SessionPage(serializers.Serializer[Any]):
    data = SessionShape(many=True)  # type: ignore[assignment]
    nextCursor = serializers.CharField(allow_null=True)


class MessagePage(serializers.Serializer[Any]):
    data = MessageShape(many=True)  # type: ignore[assignment]
    nextCursor = serializers.CharField(allow_null=True)


def session_object(session: Session) -> dict[str, Any]:
    """A session as clients see it."""
    shown: dict[str, Any] = {
        "id": session.pk,
        "agent": session.agent.slug,
        "title": session.title,
        "status": session.status,
        "user": session.user,
        "metadata": session.metadata,
        "operator": session.operator or None,
        "createdAt": session.created_at,
        "updatedAt": session.updated_at,
    }
    if hasattr(session, "first_words"):
        words = one_line(session.first_words or "", MAX_WORDS)
        shown["firstWords"] = words or None
    return shown


def message_object(message: Message) -> dict[str, Any]:
    """A message of the transcript; an answer that was given again says so."""
    shown: dict[str, Any] = {
        "id": message.pk,
        "role": message.role,
        "content": message.content,
        "turnId": message.turn_id,
        "createdAt": message.created_at,
    }
    if message.has_attachments:
        shown["attachments"] = [
            {
                "id": file.pk,
                "name": file.name,
                "mediaType": file.media_type,
                "size": file.size,
            }
            for file in message.attachments.all()
        ]
    if message.is_superseded:
        shown["superseded"] = True
    if message.operator:
        shown["operator"] = message.operator
    return shown


def posted_object(posted: PostedTurn) -> dict[str, str]:
    """The answer to an accepted message."""
    return {
        "sessionId": posted.session_id,
        "turnId": posted.turn_id,
        "cursor": f"{posted.ordinal}-0",
    }


def posted_response(posted: PostedTurn) -> Response:
    """The same as an answer, which says if it was given before."""
    headers = {"Idempotency-Replayed": "true"} if posted.is_replay else {}
    return Response(posted_object(posted), status=202, headers=headers)


def turn_object(turn: Turn, reader: Kind) -> dict[str, Any]:
    """One turn with all that its reader may know of it.

    A visitor gets what the events say: neither the providers behind the agent nor what
    they take, in ``attempts`` (which stays, empty) and in the details of the bill.
    """
    has_reply = turn.state in (TurnState.COMPLETED, TurnState.CANCELLED)
    attempts = list(turn.attempts.all())
    is_visitor = reader == "visitor"
    error = None
    if turn.error_code:
        error = {
            "code": turn.error_code,
            "message": turn.error,
            "retryable": turn.error_retryable,
        }
    feedback = None
    if turn.rating:
        feedback = {"rating": turn.rating, "comment": turn.rating_comment}
    return {
        "id": turn.pk,
        "sessionId": turn.session_id,
        "status": turn.state,
        "text": reply_text(turn) if has_reply else None,
        "stopReason": turn.stop_reason or None,
        "digest": turn.digest or None,
        "error": error,
        "usage": {
            **event_object(usage_of(turn).summary()),
            **({} if is_visitor else _bill_of(attempts)),
        },
        "rounds": max((attempt.round for attempt in attempts), default=0),
        "attempts": [] if is_visitor else list(map(_attempt_object, attempts)),
        "toolCalls": [_tool_call_object(call) for call in turn.tool_calls.all()],
        "feedback": feedback,
        "createdAt": turn.created_at,
        "startedAt": turn.started_at,
        "endedAt": turn.ended_at,
    }


def _bill_of(attempts: Sequence[Attempt]) -> dict[str, Any]:
    return {
        "costUsdAtLeast": sum(a.cost_usd for a in attempts if a.cost_usd),
        "unpricedAttempts": sum(map(_is_unpriced, attempts)),
    }


def _is_unpriced(attempt: Attempt) -> bool:
    """Whether it used something whose price nobody knows."""
    return attempt.cost_usd is None and attempt.tokens_in > 0


def _attempt_object(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "round": attempt.round,
        "provider": attempt.provider,
        "model": attempt.model,
        "status": attempt.status,
        "stopReason": attempt.stop_reason or None,
        "errorCode": attempt.error_code or None,
        "errorStatus": attempt.error_status,
        "ttftMs": attempt.ttft_ms,
        "durationMs": attempt.duration_ms,
        "tokensIn": attempt.tokens_in,
        "tokensOut": attempt.tokens_out,
        "cachedTokensIn": attempt.cached_tokens_in,
        "cacheWriteTokensIn": attempt.cache_write_tokens_in,
        "reasoningTokens": attempt.reasoning_tokens,
        "costUsd": attempt.cost_usd,
        "price": attempt.price,
        "estimated": attempt.is_estimated,
    }


def _tool_call_object(call: ToolCall) -> dict[str, Any]:
    return {
        "round": call.round,
        "callId": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "status": call.status,
        "result": call.result if call.status == CallStatus.COMPLETED else None,
        "error": call.error or None,
        "durationMs": call.duration_ms,
    }
