"""Accepting a message: message, turn and idempotency record in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain.errors import (
    BadRequest,
    IdempotencyMismatch,
    NotFound,
    QueueFull,
    SessionBusy,
    SessionClosed,
)
from sessions_app.domain.states import (
    ACTIVE_STATES,
    MAX_QUEUED_TURNS,
    OPEN_STATES,
    OnBusy,
    TurnState,
)
from sessions_app.models import Idempotency, Message, Session, Turn

RETRY_AFTER_QUEUE_FULL_S = 5


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A message as it is accepted; ``content`` None asks for another answer.

    ``body_digest`` tells two bodies under one ``idempotency_key`` apart.
    """

    session_id: str
    caller: str
    content: str | None
    on_busy: OnBusy = OnBusy.QUEUE
    allow_failover: bool = True
    idempotency_key: str = ""
    body_digest: str = ""


@dataclass(frozen=True, slots=True)
class PostedTurn:
    """An accepted turn; ``interrupted`` is the turn that makes way for it."""

    session_id: str
    turn_id: str
    ordinal: int
    is_replay: bool = False
    interrupted: str = ""


@transaction.atomic
def post(draft: TurnDraft) -> PostedTurn:
    """Store the turn, or find the one that the same request made before."""
    session = Session.objects.select_for_update().filter(pk=draft.session_id).first()
    if session is None:
        raise NotFound("There is no such session.")
    if draft.idempotency_key and (earlier := _replay(draft)):
        return earlier
    if session.is_closed:
        raise SessionClosed()
    interrupted = _make_way(draft)
    session.last_ordinal += 1
    session.save(update_fields=["last_ordinal", "updated_at"])
    turn = Turn.objects.create(
        session=session,
        ordinal=session.last_ordinal,
        allow_failover=draft.allow_failover,
    )
    if draft.content is None:
        _ask_again(turn)
    else:
        turn.user_message = Message.objects.create(
            session=session,
            turn=turn,
            ordinal=turn.ordinal,
            position=0,
            role="user",
            content=draft.content,
            author=draft.caller,
        )
    turn.save(update_fields=["user_message", "supersedes"])
    if draft.idempotency_key:
        Idempotency.objects.create(
            caller=draft.caller,
            session=session,
            key=draft.idempotency_key,
            body_digest=draft.body_digest,
            turn=turn,
        )
    return PostedTurn(session.pk, turn.pk, turn.ordinal, interrupted=interrupted)


def _replay(draft: TurnDraft) -> PostedTurn | None:
    records = Idempotency.objects.filter(
        caller=draft.caller, session=draft.session_id, key=draft.idempotency_key
    )
    oldest = Now() - timedelta(seconds=conf().idempotency_ttl_s)
    records.filter(created_at__lt=oldest).delete()
    record = records.select_related("turn").first()
    if record is None:
        return None
    if record.body_digest != draft.body_digest:
        raise IdempotencyMismatch()
    turn = record.turn
    return PostedTurn(draft.session_id, turn.pk, turn.ordinal, is_replay=True)


def _make_way(draft: TurnDraft) -> str:
    """Apply ``on_busy``; gives the id of the turn that was interrupted, or empty."""
    open_turns = Turn.objects.filter(session=draft.session_id, state__in=OPEN_STATES)
    # The first in the queue counts as running: its claim is only moments away.
    active = (
        open_turns.filter(state__in=ACTIVE_STATES).first()
        or open_turns.order_by("ordinal").first()
    )
    if draft.on_busy is OnBusy.REJECT and active is not None:
        raise SessionBusy(turnId=active.pk)
    if open_turns.filter(state=TurnState.QUEUED).count() >= MAX_QUEUED_TURNS:
        raise QueueFull(retry_after_s=RETRY_AFTER_QUEUE_FULL_S)
    if draft.on_busy is OnBusy.INTERRUPT and active is not None:
        Turn.objects.filter(pk=active.pk).update(cancel_requested=True)
        return active.pk
    return ""


def _ask_again(turn: Turn) -> None:
    """Point the turn at the last question; its answer so far is to be superseded."""
    messages = Message.objects.filter(session=turn.session_id)
    question = messages.filter(role="user").order_by("-ordinal").first()
    if question is None:
        raise BadRequest("There is no message to answer again.")
    turn.user_message = question
    turn.supersedes = (
        messages.filter(
            role="assistant", ordinal__gte=question.ordinal, is_superseded=False
        )
        .order_by("-ordinal")
        .first()
    )
