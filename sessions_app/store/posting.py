"""Accepting a message: message, turn and idempotency record in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.attachments import NewFile
from sessions_app.domain.errors import (
    BadRequest,
    IdempotencyMismatch,
    NotAllowed,
    NotFound,
    QueueFull,
    SessionBusy,
    SessionClosed,
)
from sessions_app.domain.states import (
    MAX_QUEUED_TURNS,
    OnBusy,
    TurnState,
)
from sessions_app.models import Idempotency, Message, Turn
from sessions_app.store import attachments, budgets, sql, takeover
from sessions_app.store.budgets import Payer
from sessions_app.store.claim import reserve_for
from sessions_app.store.limits import require_room
from sessions_app.store.sessions import SessionFilter
from sessions_app.store.turns import ask_to_end

RETRY_AFTER_QUEUE_FULL_S = 5
TAKEN_OVER = "A person has taken over; the agent does not answer at present."


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A message as it is accepted; ``content`` None asks for another answer.

    ``agents`` are those that may be asked, None for all. ``body_digest`` tells two
    bodies under one ``idempotency_key`` apart. With an ``operator`` the message is not
    a question but that person's reply.
    """

    session_id: str
    caller: str
    scope: SessionFilter
    content: str | None
    on_busy: OnBusy = OnBusy.QUEUE
    allow_failover: bool = True
    client_tools: Sequence[dict[str, Any]] = ()
    tool_choice: Mapping[str, str] = field(default_factory=dict)
    idempotency_key: str = ""
    operator: str = ""
    with_raw: bool = False
    attachments: Sequence[NewFile] = ()
    body_digest: str = ""
    agents: frozenset[str] | None = None


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
    """Store the turn, or find the one that the same request made before.

    NotAllowed if the caller may not use the agent, BadRequest if it is disabled.
    BudgetExceeded, like any refusal, leaves nothing behind.
    """
    found = _locked(draft)
    if draft.idempotency_key and (earlier := _replay(draft)):
        return earlier
    if found.is_closed:
        raise SessionClosed()
    interrupted = _taken_over(draft) if draft.operator else ""
    interrupted = _make_way(draft) or interrupted
    turn = Turn(
        session_id=draft.session_id,
        ordinal=found.last_ordinal + 1,
        allow_failover=draft.allow_failover,
        client_tools=list(draft.client_tools),
        tool_choice=dict(draft.tool_choice),
        operator=draft.operator or found.operator,
        with_raw=draft.with_raw,
    )
    message = None
    if draft.content is None:
        if turn.operator:
            raise BadRequest(TAKEN_OVER)
        _ask_again(turn)
    else:
        message = _message(draft, turn)
        if not draft.operator:
            turn.user_message_id = message.pk
    if not (turn.operator or found.is_enabled):  # a person may go on answering
        raise BadRequest("There is no such agent.", param="agent")
    payer = Payer(draft.caller, found.agent, draft.session_id)
    if not turn.operator:
        require_room(payer)
    _store(draft, turn, message)
    if not turn.operator and (limits := budgets.applying(payer)):
        reserve_for(turn.pk, limits)
    return PostedTurn(draft.session_id, turn.pk, turn.ordinal, interrupted=interrupted)


def _store(draft: TurnDraft, turn: Turn, message: Message | None) -> None:
    sql.change(
        f"UPDATE sessions_app_session SET last_ordinal = %s, updated_at = {sql.now()}"
        " WHERE id = %s",
        turn.ordinal,
        draft.session_id,
    )
    sql.insert(turn)
    if message is not None:
        sql.insert(message)
        if draft.attachments:
            attachments.keep(message.pk, draft.attachments)
    if draft.idempotency_key:
        Idempotency.objects.create(
            caller=draft.caller,
            session_id=draft.session_id,
            key=draft.idempotency_key,
            body_digest=draft.body_digest,
            turn=turn,
        )


class LockedSession(NamedTuple):
    """What accepting a message has to know of its session."""

    last_ordinal: int
    is_closed: bool
    owner: str
    agent: str
    operator: str
    is_enabled: bool


def _locked(draft: TurnDraft) -> LockedSession:
    """The session, its row locked: posts of one session come one after the other."""
    found: Sequence[sql.Row] = ()
    if ids.could_be_id(draft.session_id):
        found = sql.rows(
            "SELECT s.last_ordinal, s.is_closed, s.owner, a.slug, s.operator,"
            " a.is_enabled"
            " FROM sessions_app_session s"
            " JOIN sessions_app_agent a ON a.id = s.agent_id"
            f" WHERE s.id = %s AND s.purged_at IS NULL{sql.for_update_of('s')}",
            draft.session_id,
        )
    session = LockedSession(*found[0]) if found else None
    if session is None or not draft.scope.covers(
        owner=session.owner, agent=session.agent
    ):
        raise NotFound("There is no such session.")
    if draft.agents is not None and session.agent not in draft.agents:
        raise NotAllowed("This credential may not use that agent.", param="agent")
    return session


def _message(draft: TurnDraft, turn: Turn) -> Message:
    return Message(
        session_id=draft.session_id,
        turn_id=turn.pk,
        ordinal=turn.ordinal,
        position=1 if draft.operator else 0,
        role="assistant" if draft.operator else "user",
        content=draft.content or "",
        author=draft.caller,
        operator=turn.operator,
        has_attachments=bool(draft.attachments),
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


def _taken_over(draft: TurnDraft) -> str:
    """Have the operator speak for the agent; the turn that ends for it, or empty."""
    ended = takeover.begin(draft.session_id, draft.operator)
    return ended[0] if ended else ""


def _make_way(draft: TurnDraft) -> str:
    """Apply ``on_busy``; gives the id of the turn that was interrupted, or empty."""
    waiting = sql.rows(
        f"SELECT id, state FROM sessions_app_turn"
        f" WHERE session_id = %s AND state IN {sql.OPEN} ORDER BY ordinal",
        draft.session_id,
    )
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
        ask_to_end(Turn.objects.filter(pk=first))
        return str(first)
    return ""


def _ask_again(turn: Turn) -> None:
    """Point the turn at the last question; its end supersedes what was answered."""
    messages = Message.objects.filter(session=turn.session_id)
    question = messages.filter(role="user").order_by("-ordinal").first()
    if question is None:
        raise BadRequest("There is no message to answer again.")
    turn.user_message = question
