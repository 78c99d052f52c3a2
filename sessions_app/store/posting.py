"""Accepting a message: message, turn and idempotency record in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.errors import (
    BadRequest,
    IdempotencyMismatch,
    NotFound,
    QueueFull,
    SessionBusy,
    SessionClosed,
)
from sessions_app.domain.states import (
    MAX_QUEUED_TURNS,
    OPEN_STATES,
    OnBusy,
    TurnState,
)
from sessions_app.models import Idempotency, Message, Session, Turn
from sessions_app.store.sessions import SessionFilter, within

RETRY_AFTER_QUEUE_FULL_S = 5


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A message as it is accepted; ``content`` None asks for another answer.

    ``body_digest`` tells two bodies under one ``idempotency_key`` apart.
    """

    session_id: str
    caller: str
    scope: SessionFilter
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
    session = _locked(draft)
    if draft.idempotency_key and (earlier := _replay(draft)):
        return earlier
    if session.is_closed:
        raise SessionClosed()
    interrupted = _make_way(draft)
    turn = Turn(
        session=session,
        ordinal=session.last_ordinal + 1,
        allow_failover=draft.allow_failover,
    )
    message = None
    if draft.content is None:
        _ask_again(turn)
    else:
        message = _question(draft, turn)
        turn.user_message_id = message.pk
    Session.objects.filter(pk=session.pk).update(
        last_ordinal=turn.ordinal, updated_at=timezone.now()
    )
    turn.save(force_insert=True)
    if message is not None:
        message.save(force_insert=True)
    if draft.idempotency_key:
        Idempotency.objects.create(
            caller=draft.caller,
            session=session,
            key=draft.idempotency_key,
            body_digest=draft.body_digest,
            turn=turn,
        )
    return PostedTurn(session.pk, turn.pk, turn.ordinal, interrupted=interrupted)


def _locked(draft: TurnDraft) -> Session:
    """The session, its row locked: posts of one session come one after the other."""
    session = None
    if ids.could_be_id(draft.session_id):
        rows = within(draft.scope).select_for_update(of=("self",))
        session = rows.filter(pk=draft.session_id).first()
    if session is None:
        raise NotFound("There is no such session.")
    return session


def _question(draft: TurnDraft, turn: Turn) -> Message:
    return Message(
        session_id=draft.session_id,
        turn_id=turn.pk,
        ordinal=turn.ordinal,
        position=0,
        role="user",
        content=draft.content or "",
        author=draft.caller,
    )


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
    waiting = list(open_turns.order_by("ordinal").values_list("pk", "state"))
    if not waiting:
        return ""
    # The first one counts as running even if it is still to be claimed.
    first = waiting[0][0]
    if draft.on_busy is OnBusy.REJECT:
        raise SessionBusy(turnId=first)
    queued = sum(state == TurnState.QUEUED for _, state in waiting)
    if queued >= MAX_QUEUED_TURNS:
        raise QueueFull(retry_after_s=RETRY_AFTER_QUEUE_FULL_S)
    if draft.on_busy is OnBusy.INTERRUPT:
        Turn.objects.filter(pk=first).update(cancel_requested=True)
        return str(first)
    return ""


def _ask_again(turn: Turn) -> None:
    """Point the turn at the last question; its end supersedes what was answered."""
    messages = Message.objects.filter(session=turn.session_id)
    question = messages.filter(role="user").order_by("-ordinal").first()
    if question is None:
        raise BadRequest("There is no message to answer again.")
    turn.user_message = question
