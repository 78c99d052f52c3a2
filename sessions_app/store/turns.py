"""The life of a claimed turn: lease, marks on the way, and its one end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.errors import NotFound
from sessions_app.domain.outcome import (
    AttemptRecord,
    CallStatus,
    ToolCallRecord,
    TurnEnd,
)
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import ACTIVE_STATES, OPEN_STATES, TurnState
from sessions_app.models import Attempt, Message, ToolCall, Turn
from sessions_app.store import budgets, sql


@dataclass(frozen=True, slots=True)
class Finish:
    """Whether the end was committed (the claim was held), and the turn that follows."""

    is_held: bool
    following: str | None


def first_open(session_id: str) -> str | None:
    """The turn whose time it is: no turn before it can open again."""
    found = sql.rows(
        "SELECT id FROM sessions_app_turn"
        f" WHERE session_id = %s AND state IN {sql.OPEN} ORDER BY ordinal LIMIT 1",
        session_id,
    )
    return found[0][0] if found else None


def renew(worker: str, turn_ids: Iterable[str]) -> dict[str, bool]:
    """Extend the leases of turns that run; those still held, True if to be cancelled.

    A turn that the process holds but does not run is left to the sweeper.
    """
    mine = Turn.objects.filter(
        pk__in=list(turn_ids), worker=worker, state=TurnState.RUNNING
    )
    mine.update(lease_until=Now() + timedelta(seconds=conf().lease_s))
    return dict(mine.values_list("pk", "cancel_requested"))


@transaction.atomic
def mark_first_delta(
    work: TurnWork, answering: str, from_n: int, attempts: Sequence[AttemptRecord]
) -> bool:
    """Commit that text is about to go out; False if the claim was lost.

    ``answering`` is whose text it is, as in a route, "" if no model's; ``from_n`` is
    where it begins in the log, and ``attempts`` came before it.
    """
    changed = sql.change(
        "UPDATE sessions_app_turn"
        " SET has_deltas = TRUE, answering = %s, answering_from_n = %s"
        f" WHERE id = %s AND fence = %s AND state IN {sql.ACTIVE}",
        answering,
        from_n,
        work.turn_id,
        work.fence,
    )
    if changed:
        _book(work.turn_id, attempts)
    return bool(changed)


@transaction.atomic
def start_tools(
    turn_id: str,
    fence: int,
    calls: Sequence[ToolCallRecord],
    attempts: Sequence[AttemptRecord],
    round_texts: Sequence[str],
    next_n: int,
) -> bool:
    """Commit a round's calls before any of them runs, so that none runs twice.

    ``next_n`` is where the turn's next event stands: another claim may go on there.
    """
    changes: dict[str, Any] = {
        "round_texts": list(round_texts),
        "answering": "",
        "next_n": next_n,
    }
    if any(call.status == CallStatus.STARTED for call in calls):
        changes["has_started_tool"] = True
    if not _held(turn_id, fence).update(**changes):
        return False
    _book(turn_id, attempts)
    ToolCall.objects.bulk_create(_row(turn_id, call) for call in calls)
    return True


@transaction.atomic
def start_approved(turn_id: str, fence: int, calls: Iterable[ToolCallRecord]) -> bool:
    """Commit that calls that somebody allowed are about to run."""
    if not _held(turn_id, fence).update(has_started_tool=True):
        return False
    _store_calls(turn_id, calls)
    return True


@transaction.atomic
def end_tools(turn_id: str, fence: int, calls: Iterable[ToolCallRecord]) -> bool:
    """Store what came of the calls; False if the claim was lost meanwhile."""
    if not _held(turn_id, fence).update(answering=""):
        return False
    _store_calls(turn_id, calls)
    return True


def _store_calls(turn_id: str, calls: Iterable[ToolCallRecord]) -> None:
    for call in calls:
        ToolCall.objects.filter(
            turn=turn_id, round=call.round_no, position=call.position
        ).update(
            status=str(call.status),
            result=call.result,
            error=call.error,
            duration_ms=call.duration_ms,
        )


def finish(work: TurnWork, end: TurnEnd) -> Finish:
    """Commit the one end of a turn, and tell whose time comes now.

    Called again with the same end after an error of unknown outcome, it finds what
    it had committed.
    """
    with transaction.atomic():
        is_held = _finish(work, end) or _is_finished(work, end)
    # Looked for after the commit: a turn that is accepted later finds the way free.
    return Finish(is_held, first_open(work.session_id))


def _is_finished(work: TurnWork, end: TurnEnd) -> bool:
    turns = Turn.objects.filter(pk=work.turn_id, fence=work.fence, state=end.state)
    return turns.filter(terminal_n=end.terminal_n, digest=end.digest).exists()


def _finish(work: TurnWork, end: TurnEnd) -> bool:
    usage = end.usage
    ended = sql.change(
        "UPDATE sessions_app_turn SET state = %s, terminal_n = %s, has_deltas = %s,"
        " stop_reason = %s, digest = %s, error_code = %s, error = %s,"
        " error_retryable = %s, tokens_in = %s, tokens_out = %s,"
        " cached_tokens_in = %s, reasoning_tokens = %s, cost_usd = %s,"
        f" is_estimated = %s, ended_at = {sql.now()}, lease_until = NULL"
        f" WHERE id = %s AND fence = %s AND state IN {sql.ACTIVE}",
        str(end.state),
        end.terminal_n,
        end.has_deltas,
        str(end.stop_reason),
        end.digest,
        end.error_code,
        end.error,
        end.error_retryable,
        usage.tokens_in,
        usage.tokens_out,
        usage.cached_tokens_in,
        usage.reasoning_tokens,
        usage.cost_usd,
        usage.is_estimated,
        work.turn_id,
        work.fence,
    )
    if not ended:
        return False
    _book(work.turn_id, end.attempts)
    if end.text and not work.operator:  # a person's words are stored already
        _store_reply(work, end.text)
    if work.is_budgeted:
        # Last, as accepting a message locks its session before the ledgers, too.
        budgets.settle(work.turn_id)
    return True


def _store_reply(work: TurnWork, text: str) -> None:
    reply = Message(
        session_id=work.session_id,
        turn_id=work.turn_id,
        ordinal=work.ordinal,
        position=1,
        role="assistant",
        content=text,
    )
    sql.insert(reply)
    if work.is_again:
        # Whatever was answered to this question before, also since it was asked again.
        question = Turn.objects.filter(pk=work.turn_id).values("user_message")[:1]
        answers = Message.objects.filter(role="assistant", turn__user_message=question)
        answers.exclude(turn=work.turn_id).update(is_superseded=True)


@transaction.atomic
def release(turn_id: str, fence: int, attempts: Sequence[AttemptRecord] = ()) -> bool:
    """Put a turn back in the queue that its process could not bring to an end.

    ``attempts`` are those made so far: they are billed, whatever the next run does.
    One that waits already is not to run before somebody answers.
    """
    is_released = (
        _held(turn_id, fence)
        .filter(state=TurnState.RUNNING)
        .update(
            state=TurnState.QUEUED,
            worker="",
            lease_until=None,
            answering="",
            has_deltas=False,  # marked, and then not shown
        )
    )
    if not is_released:
        return False
    _book(turn_id, attempts)
    return True


def request_cancel(session_id: str, turn_id: str) -> bool:
    """Ask for the end of a turn; False if it has ended already."""
    if not ids.could_be_id(turn_id):
        raise NotFound("There is no such turn.")
    turns = Turn.objects.filter(session=session_id, pk=turn_id)
    if ask_to_end(turns.filter(state__in=OPEN_STATES)):
        return True
    if not turns.exists():
        raise NotFound("There is no such turn.")
    return False


@transaction.atomic
def ask_to_end(open_turns: QuerySet[Turn]) -> int:
    """Ask for the end of open turns; one that waits runs again, to end at once."""
    asked = open_turns.update(cancel_requested=True)
    open_turns.filter(state=TurnState.AWAITING_TOOLS).update(state=TurnState.QUEUED)
    return asked


def detail(session_id: str, turn_id: str) -> Turn:
    """The turn with attempts, tool calls and messages; NotFound if not here."""
    if not ids.could_be_id(turn_id):
        raise NotFound("There is no such turn.")
    turn = (
        Turn.objects.filter(session=session_id, pk=turn_id)
        .prefetch_related("attempts", "tool_calls", "messages")
        .first()
    )
    if turn is None:
        raise NotFound("There is no such turn.")
    return turn


def rate(turn: Turn, rating: str, comment: str) -> None:
    """Keep what the reader thought of the reply."""
    turn.rating, turn.rating_comment = rating, comment
    turn.save(update_fields=["rating", "rating_comment"])


def _held(turn_id: str, fence: int) -> Any:
    return Turn.objects.filter(pk=turn_id, fence=fence, state__in=ACTIVE_STATES)


def _book(turn_id: str, attempts: Sequence[AttemptRecord]) -> None:
    """Store what is not stored yet, under the lock of the turn's row.

    A write whose caller was cancelled may have been committed all the same.
    """
    if not attempts:
        return
    select = "SELECT number FROM sessions_app_attempt WHERE turn_id = %s"
    stored = {number for (number,) in sql.rows(select, turn_id)}
    for record in attempts:
        if record.number not in stored:
            sql.insert(_attempt_row(turn_id, record))


def _attempt_row(turn_id: str, record: AttemptRecord) -> Attempt:
    fields = asdict(replace(record, price=None))
    usage = fields.pop("usage")
    fields["round"] = fields.pop("round_no")
    if record.price is not None:
        price = record.price.for_prompt(record.usage.tokens_in)
        fields["price"] = price.as_object()
    return Attempt(turn_id=turn_id, **fields, **usage)


def _row(turn_id: str, call: ToolCallRecord) -> ToolCall:
    fields = asdict(call)
    del fields["raw"]
    fields["round"] = fields.pop("round_no")
    fields["status"] = str(call.status)
    return ToolCall(turn_id=turn_id, **fields)
