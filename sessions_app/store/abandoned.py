"""Turns that nobody works on: queued and not taken, or left by a dead process."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain.announce import Announcement
from sessions_app.domain.cursor import SWEPT_TERMINAL_N
from sessions_app.domain.errors import WorkerLost
from sessions_app.domain.outcome import TurnEnd
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import ACTIVE_STATES, OPEN_STATES, TurnState
from sessions_app.domain.usage import Usage
from sessions_app.models import Idempotency, Turn
from sessions_app.store import turns as turn_store

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
    left = Turn.objects.filter(state__in=ACTIVE_STATES).select_related("session__agent")
    if worker is None:
        left = left.filter(lease_until__lt=Now())
    else:
        left = left.exclude(worker=worker)
    if connection.features.has_select_for_update_skip_locked:
        left = left.select_for_update(skip_locked=True, of=("self",))
    requeued: list[str] = []
    ended: list[tuple[int, Announcement]] = []
    for turn in left[:BATCH]:
        fence = turn.fence + 1
        Turn.objects.filter(pk=turn.pk).update(fence=F("fence") + 1)
        if turn.has_deltas or turn.has_started_tool:
            ended.append((turn.ordinal, _end(turn, fence)))
        else:
            turn_store.release(turn.pk, fence)
            requeued.append(turn.pk)
    return requeued, ended


def _end(turn: Turn, fence: int) -> Announcement:
    error = WorkerLost()
    end = TurnEnd(
        state=TurnState.FAILED,
        terminal_n=SWEPT_TERMINAL_N,
        usage=Usage(),
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
        fence=fence,
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
