"""Turns that nobody works on: not taken, left by a dead process, or never answered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain.announce import Announcement
from sessions_app.domain.cursor import SWEPT_TERMINAL_N
from sessions_app.domain.errors import ToolDeadline, TurnError, WorkerLost
from sessions_app.domain.outcome import TurnEnd, total_usage
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import OPEN_STATES, TurnState
from sessions_app.models import Idempotency, Turn
from sessions_app.store import turns as turn_store
from sessions_app.store.progress import booked

BATCH = 100


def waiting(min_age_s: float) -> list[str]:
    """Queued turns whose time has come and that nobody took for a while."""
    earlier = Turn.objects.filter(
        session=OuterRef("session"),
        ordinal__lt=OuterRef("ordinal"),
        state__in=OPEN_STATES,
    )
    turns = Turn.objects.filter(
        ~Exists(earlier),
        state=TurnState.QUEUED,
        created_at__lte=Now() - timedelta(seconds=min_age_s),
    )
    return list(turns.order_by("created_at").values_list("pk", flat=True)[:BATCH])


@transaction.atomic
def take_over(worker: str | None) -> tuple[list[str], list[tuple[int, Announcement]]]:
    """Deal with turns whose lease is over.

    Gives the ids of those put back in the queue (no delta, no tool), and the ends of
    the others with their ordinals. With a ``worker``, every running turn that is not
    its own counts as left, whatever its lease says: that is how the only process of
    an installation begins.
    """
    left = Turn.objects.filter(state=TurnState.RUNNING)
    if worker is None:
        left = left.filter(lease_until__lt=Now())
    else:
        left = left.exclude(worker=worker)
    requeued: list[str] = []
    ended: list[tuple[int, Announcement]] = []
    for turn in _taken(left):
        if turn.has_deltas or turn.has_started_tool:
            ended.append((turn.ordinal, _end(turn, WorkerLost(), SWEPT_TERMINAL_N)))
        else:
            turn_store.release(turn.pk, turn.fence)
            requeued.append(turn.pk)
    waited = Turn.objects.filter(state=TurnState.AWAITING_TOOLS, tools_due_at__lt=Now())
    for turn in _taken(waited):
        ended.append((turn.ordinal, _end(turn, ToolDeadline(), turn.next_n)))
    return requeued, ended


def _taken(turns: QuerySet[Turn]) -> Iterator[Turn]:
    """Some of the turns, each under a claim of the sweeper's own."""
    turns = turns.select_related("session__agent")
    if connection.features.has_select_for_update_skip_locked:
        turns = turns.select_for_update(skip_locked=True, of=("self",))
    for turn in turns[:BATCH]:
        turn.fence += 1
        Turn.objects.filter(pk=turn.pk).update(fence=turn.fence)
        yield turn


def _end(turn: Turn, error: TurnError, terminal_n: int) -> Announcement:
    end = TurnEnd(
        state=TurnState.FAILED,
        terminal_n=terminal_n,
        usage=total_usage(booked(turn)),
        error_code=error.code,
        error=error.message,
        error_retryable=True,
        has_deltas=turn.has_deltas,
    )
    agent = turn.session.agent
    work = TurnWork(
        turn_id=turn.pk,
        session_id=turn.session_id,
        ordinal=turn.ordinal,
        fence=turn.fence,
        agent=agent.slug,
        candidates=(),
        prompt=(),
    )
    turn_store.finish(work, end)
    return Announcement(turn.session_id, turn.pk, end, agent.canned_reply)


def forget_old_keys() -> None:
    """Delete idempotency records that no longer count."""
    oldest = Now() - timedelta(seconds=conf().idempotency_ttl_s)
    Idempotency.objects.filter(created_at__lt=oldest).delete()
