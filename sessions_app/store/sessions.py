"""Sessions: make, find, list, change, delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Substr

from sessions_app.domain import ids
from sessions_app.domain.errors import BadRequest, NotFound
from sessions_app.domain.states import ACTIVE_STATES, OPEN_STATES, SessionStatus
from sessions_app.models import Agent, Idempotency, Message, Session, Turn
from sessions_app.store import sql
from sessions_app.store.deleted_usage import keep_usage
from sessions_app.store.turns import ask_to_end

HANDED_AT_ONCE = 100
MAX_FIRST_WORDS = 200
OWNERSHIP = """
SELECT s.owner, a.slug
FROM sessions_app_session s JOIN sessions_app_agent a ON a.id = s.agent_id
WHERE s.id = %s AND s.purged_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Which sessions a caller may see: its own, or those of some agents.

    ``owner`` None means every owner; ``agents`` None means every agent.
    """

    owner: str | None = None
    agents: frozenset[str] | None = None

    def covers(self, *, owner: str, agent: str) -> bool:
        """Whether a session of that owner and agent is inside."""
        return self.owner in (None, owner) and (
            self.agents is None or agent in self.agents
        )


def within(scope: SessionFilter) -> QuerySet[Session]:
    """The sessions inside the scope; those that were purged are in none."""
    sessions = Session.objects.filter(purged_at=None)
    if scope.owner is not None:
        sessions = sessions.filter(owner=scope.owner)
    if scope.agents is not None:
        sessions = sessions.filter(agent__slug__in=scope.agents)
    return sessions


def require(scope: SessionFilter, session_id: str) -> None:
    """NotFound unless the session is inside the scope."""
    found = sql.rows(OWNERSHIP, session_id) if ids.could_be_id(session_id) else ()
    if not any(scope.covers(owner=owner, agent=agent) for owner, agent in found):
        raise NotFound("There is no such session.")


def agent_of(scope: SessionFilter, session_id: str) -> str:
    """The slug of the session's agent; empty unless it is inside the scope."""
    if not ids.could_be_id(session_id):
        return ""
    found = within(scope).filter(pk=session_id)
    return found.values_list("agent__slug", flat=True).first() or ""


def visible(scope: SessionFilter) -> QuerySet[Session]:
    """The sessions inside the scope, their status read off their turns."""
    active = Turn.objects.filter(session=OuterRef("pk"), state__in=ACTIVE_STATES)
    # A queued turn is about to run: its session is busy for any reader.
    waiting = Turn.objects.filter(session=OuterRef("pk"), state="queued")
    return (
        within(scope)
        .select_related("agent")
        .annotate(
            active_state=Subquery(active.values("state")[:1]),
            has_queued=Exists(waiting),
        )
    )


def find(scope: SessionFilter, session_id: str) -> Session:
    """The session, or NotFound: foreign and unknown ids look alike."""
    session = _lookup(scope, session_id)
    if session is None:
        raise NotFound("There is no such session.")
    return session


def _lookup(scope: SessionFilter, session_id: str) -> Session | None:
    if not ids.could_be_id(session_id):
        return None
    return visible(scope).filter(pk=session_id).first()


def create(agent: Agent, owner: str, fields: dict[str, Any]) -> Session:
    """A new session; ``fields`` are the model's own names."""
    return Session.objects.create(agent=agent, owner=owner, **fields)


def page(
    scope: SessionFilter,
    *,
    limit: int,
    after: str | None,
    agent: str | None,
    status: SessionStatus | None,
    user: str | None,
) -> list[Session]:
    """Newest first, ``limit`` and one more, so that the caller sees if there is one."""
    sessions = visible(scope)
    if agent is not None:
        sessions = sessions.filter(agent__slug=agent)
    if user is not None:
        sessions = sessions.filter(user=user)
    if status is not None:
        sessions = sessions.filter(_status_filter(status))
    if after is not None:
        last = _lookup(scope, after)
        if last is None:
            raise BadRequest("There is no such session.", param="after")
        sessions = sessions.filter(
            Q(created_at__lt=last.created_at)
            | Q(created_at=last.created_at, id__lt=last.id)
        )
    return list(with_first_words(sessions)[: limit + 1])


def with_first_words(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """With ``first_words``: how the user began, for those who look for it."""
    asked = Message.objects.filter(session=OuterRef("pk"), position=0)
    words = Substr("content", 1, MAX_FIRST_WORDS)
    first = asked.order_by("ordinal").values(words=words)[:1]
    return sessions.annotate(first_words=Subquery(first))


def _status_filter(status: SessionStatus) -> Q:
    if status is SessionStatus.CLOSED:
        return Q(is_closed=True)
    if status is SessionStatus.RUNNING:
        return Q(is_closed=False) & (
            Q(active_state="running") | Q(active_state=None, has_queued=True)
        )
    if status is SessionStatus.AWAITING_TOOLS:
        return Q(is_closed=False, active_state="awaiting_tools")
    return Q(is_closed=False, active_state=None, has_queued=False)


def update(session: Session, changes: dict[str, Any]) -> None:
    """Store the changed fields."""
    for name, value in changes.items():
        setattr(session, name, value)
    session.save(update_fields=[*changes, "updated_at"])


@transaction.atomic
def hand_over(owner: str, new_owner: str, user: str, profile: Mapping[str, str]) -> int:
    """Give an owner's sessions to another; their running turns go on."""
    moved = list(Session.objects.select_for_update().filter(owner=owner).order_by("pk"))
    for session in moved:
        session.owner, session.user = new_owner, user
        if profile:
            session.metadata = {**session.metadata, "user": dict(profile)}
    fields = ["owner", "user", "metadata"]
    Session.objects.bulk_update(moved, fields, batch_size=HANDED_AT_ONCE)
    # What the visitor sent is still known as theirs when it is sent once more.
    theirs = {"session__owner": new_owner}
    Idempotency.objects.filter(caller=owner, **theirs).update(caller=new_owner)
    Message.objects.filter(author=owner, **theirs).update(author=new_owner)
    return len(moved)


def ask_for_human(session_id: str, reason: str) -> None:
    """Flag the session for the operators, until one of them answers."""
    Session.objects.filter(pk=session_id).update(
        needs_human=True, handover_reason=reason
    )


def close(session_id: str) -> list[str]:
    """Take no more messages, cancel what is open; the ids of the open turns."""
    Session.objects.filter(pk=session_id).update(is_closed=True)
    turns = Turn.objects.filter(session=session_id, state__in=OPEN_STATES)
    ask_to_end(turns)
    return list(turns.values_list("pk", flat=True))


def takes_attachments(session_id: str) -> bool:
    """Whether the session's agent takes files."""
    return Session.objects.filter(pk=session_id, agent__attachments=True).exists()


def count_mail(session_id: str, at_most: int) -> bool:
    """Count an e-mail of the session; False if there were as many already."""
    few = Session.objects.filter(pk=session_id, mails_sent__lt=at_most)
    return bool(few.update(mails_sent=F("mails_sent") + 1))


def have_open_turns(session_ids: Sequence[str]) -> bool:
    """Whether any turn of the sessions is still to end."""
    return Turn.objects.filter(session__in=session_ids, state__in=OPEN_STATES).exists()


@transaction.atomic
def delete(session_id: str) -> None:
    """Remove the session and everything below it; what it cost stays, in a sum."""
    rows = Session.objects.select_for_update(of=("self",)).select_related("agent")
    session = rows.filter(pk=session_id).first()
    if session is not None:  # or somebody else has deleted and counted it
        keep_usage(session)
        session.delete()


def keep_summary(session_id: str, summary: str, up_to: int) -> None:
    """What a model with a memory is told of the turns up to an ordinal."""
    sessions = Session.objects.filter(pk=session_id, summary_to__lt=up_to)
    sessions.update(summary=summary, summary_to=up_to)
