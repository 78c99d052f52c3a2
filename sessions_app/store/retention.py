"""Removing the texts of conversations whose time is over; what they cost stays.

A conversation that is purged loses whatever somebody wrote or can be told by. Its turns
and attempts stay as numbers, so that bills and budgets are as right as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Left, Now

from sessions_app.conf import conf
from sessions_app.domain.states import OPEN_STATES
from sessions_app.models import (
    Agent,
    Attachment,
    Attempt,
    Idempotency,
    Session,
    ToolCall,
    Turn,
)
from sessions_app.store import sql
from sessions_app.store.deleted_usage import payer_of

BATCH = 50
"""Conversations of one transaction; SQLite lets nobody else write meanwhile."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Whose conversations go after ``days`` without use: an agent's, or some owners'.

    ``owners`` is what the names of the owners begin with.
    """

    label: str
    days: int
    agent_id: int | None = None
    owners: str = ""


RuleSource = Callable[[], Iterable[Rule]]


def _agent_rules() -> Iterable[Rule]:
    agents = Agent.objects.exclude(retention_days=None)
    for pk, slug, days in agents.values_list("pk", "slug", "retention_days"):
        yield Rule(f"agent {slug}", days or 0, agent_id=pk)


_sources: list[RuleSource] = [_agent_rules]


def register_rules(source: RuleSource) -> None:
    """Add rules that this app knows nothing of."""
    _sources.append(source)


def rules() -> list[Rule]:
    """All rules in force; each is applied, so that the shortest time counts."""
    return [rule for source in _sources for rule in source()]


def due(rule: Rule) -> QuerySet[Session]:
    """The conversations that are over their time by this rule.

    None of them has a turn that is still to end, or events that are still replayed.
    """
    quiet_s = max(rule.days * 86_400.0, conf().log_ttl_s)
    oldest = Now() - timedelta(seconds=quiet_s)
    recent = Q(state__in=OPEN_STATES) | Q(ended_at__gt=oldest)
    used = Turn.objects.filter(recent, session=OuterRef("pk"))
    sessions = Session.objects.filter(purged_at=None, updated_at__lte=oldest)
    if rule.agent_id is not None:
        sessions = sessions.filter(agent=rule.agent_id)
    if rule.owners:
        # LIKE finds them by the index, but in SQLite it takes "Shop" for "shop".
        head = Left("owner", len(rule.owners))
        sessions = sessions.filter(owner__startswith=rule.owners)
        sessions = sessions.annotate(head=head).filter(head=rule.owners)
    return sessions.filter(~Exists(used)).order_by("updated_at")


def purge_some() -> list[str]:
    """Purge a few conversations that are due; their ids, none if all is done."""
    for rule in rules():
        if found := _purge(rule):
            return found
    return []


@transaction.atomic
def _purge(rule: Rule) -> list[str]:
    sessions = due(rule)
    if connection.features.has_select_for_update_skip_locked:
        # What somebody else purges or posts to at this moment is left to them.
        sessions = sessions.select_for_update(skip_locked=True, of=("self",))
    found = dict(sessions.values_list("pk", "owner")[:BATCH])
    for session_id, owner in found.items():
        _scrub(session_id, owner)
    return list(found)


def _scrub(session_id: str, owner: str) -> None:
    turns = Turn.objects.filter(session=session_id)
    Attempt.objects.filter(turn__session=session_id).update(diagnosis="")
    ToolCall.objects.filter(turn__session=session_id).delete()
    Idempotency.objects.filter(session=session_id).delete()
    Attachment.objects.filter(message__session=session_id).delete()
    turns.update(
        user_message=None,
        operator="",
        client_tools=[],
        tool_choice={},
        round_texts=[],
        shown_texts=[],
        digest="",
        rating_comment="",
    )
    # The ORM would read every message before it deletes it.
    sql.change("DELETE FROM sessions_app_message WHERE session_id = %s", session_id)
    Session.objects.filter(pk=session_id).update(
        owner=payer_of(owner),
        title="",
        user="",
        system_prompt="",
        metadata={},
        summary="",
        handover_reason="",
        needs_human=False,
        operator="",
        is_closed=True,
        purged_at=Now(),
    )
