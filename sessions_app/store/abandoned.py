"""Turns that nobody works on: not taken, left by a dead process, or never answered."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain.announce import Announcement
from sessions_app.domain.cursor import SWEPT_TERMINAL_N
from sessions_app.domain.errors import ToolDeadline, TurnError, WorkerLost
from sessions_app.domain.outcome import AttemptRecord, TurnEnd, total_usage
from sessions_app.domain.parts import UsagePart
from sessions_app.domain.route import TurnWork, split_route_entry
from sessions_app.domain.states import OPEN_STATES, TurnState
from sessions_app.domain.usage import settle
from sessions_app.models import Idempotency, Turn
from sessions_app.store import turns as turn_store
from sessions_app.store.catalog import candidates_of
from sessions_app.store.messages import prompt_of
from sessions_app.store.progress import booked

logger = logging.getLogger(__name__)

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


def left_in_words(worker: str | None) -> list[tuple[str, str, int]]:
    """The turns left while they were answering: turn, session and ordinal."""
    left = _left(worker).exclude(answering="")
    return list(left.values_list("pk", "session_id", "ordinal")[:BATCH])


@transaction.atomic
def take_over(
    worker: str | None, heads: Mapping[str, int]
) -> tuple[list[str], list[tuple[int, Announcement]]]:
    """Deal with turns whose lease is over.

    Gives the ids of those put back in the queue (no delta, no tool), and the ends of
    the others with their ordinals. With a ``worker``, every running turn that is not
    its own counts as left, whatever its lease says: that is how the only process of
    an installation begins. ``heads`` are the ``n`` of turns' last events in the log.
    """
    left = _left(worker)
    requeued: list[str] = []
    ended: list[tuple[int, Announcement]] = []
    for turn in _taken(left):
        if turn.has_deltas or turn.has_started_tool:
            lost = _guess(turn, heads.get(turn.pk, 0))
            end = _end(turn, WorkerLost(), SWEPT_TERMINAL_N, lost)
            ended.append((turn.ordinal, end))
        else:
            turn_store.release(turn.pk, turn.fence)
            requeued.append(turn.pk)
    waited = Turn.objects.filter(state=TurnState.AWAITING_TOOLS, tools_due_at__lt=Now())
    for turn in _taken(waited):
        ended.append((turn.ordinal, _end(turn, ToolDeadline(), turn.next_n)))
    return requeued, ended


def _left(worker: str | None) -> QuerySet[Turn]:
    running = Turn.objects.filter(state=TurnState.RUNNING)
    if worker is None:
        return running.filter(lease_until__lt=Now())
    return running.exclude(worker=worker)


def _guess(turn: Turn, head_n: int) -> tuple[AttemptRecord, ...]:
    """The lost attempt, or none: a row that cannot be read must not stop the sweep."""
    try:
        return _lost_attempt(turn, head_n)
    except (TypeError, ValueError, LookupError, AttributeError):
        logger.exception("What turn %s has used cannot be guessed.", turn.pk)
        return ()


def _lost_attempt(turn: Turn, head_n: int) -> tuple[AttemptRecord, ...]:
    """What the call that was cut off has used: a guess, but the provider bills it.

    A delta is about a token; the prompt counts once more. Nothing but deltas follows
    the first one of a call before the call is booked.
    """
    if not turn.answering:
        return ()
    provider, model = split_route_entry(turn.answering)
    candidates = candidates_of([turn.answering])  # none if it is gone meanwhile
    price = candidates[0].price if candidates else None
    shown = head_n - turn.answering_from_n + 1
    asked = turn.user_message.ordinal if turn.user_message else turn.ordinal
    prompt = prompt_of(turn.session_id, asked, turn.session.agent.system_prompt)
    usage = settle(
        UsagePart(tokens_out=max(1, shown)),
        prompt_characters=sum(len(message.content) for message in prompt),
        reply_characters=0,
        is_complete=False,
        price=price,
    )
    number = turn.attempts.count() + 1
    record = AttemptRecord(
        number=number,
        round_no=len(turn.round_texts) + 1,
        provider=provider,
        model=model,
        status="failed",
        usage=usage,
        duration_ms=0,
        error_code=WorkerLost.code,
        price=price,
    )
    return (record,)


def _taken(turns: QuerySet[Turn]) -> Iterator[Turn]:
    """Some of the turns, each under a claim of the sweeper's own."""
    turns = turns.select_related("session__agent", "user_message")
    if connection.features.has_select_for_update_skip_locked:
        turns = turns.select_for_update(skip_locked=True, of=("self",))
    for turn in turns[:BATCH]:
        turn.fence += 1
        Turn.objects.filter(pk=turn.pk).update(fence=turn.fence)
        yield turn


def _end(
    turn: Turn,
    error: TurnError,
    terminal_n: int,
    lost: tuple[AttemptRecord, ...] = (),
) -> Announcement:
    end = TurnEnd(
        state=TurnState.FAILED,
        terminal_n=terminal_n,
        usage=total_usage([*booked(turn.pk), *lost]),
        attempts=lost,
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
        is_budgeted=turn.is_budgeted,
    )
    turn_store.finish(work, end)
    return Announcement(turn.session_id, turn.pk, end, agent.canned_reply)


def forget_old_keys() -> None:
    """Delete idempotency records that no longer count."""
    oldest = Now() - timedelta(seconds=conf().idempotency_ttl_s)
    Idempotency.objects.filter(created_at__lt=oldest).delete()
