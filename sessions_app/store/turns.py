"""The life of a turn: claim, lease, marks on the way, and its one end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.errors import NotFound
from sessions_app.domain.outcome import AttemptRecord, ToolCallRecord, TurnEnd
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import ACTIVE_STATES, OPEN_STATES, TurnState
from sessions_app.models import Attempt, Message, ToolCall, Turn
from sessions_app.store.catalog import candidates_of, plan_of
from sessions_app.store.messages import prompt_of


@dataclass(frozen=True, slots=True)
class Finish:
    """Whether the end was committed (the claim was held), and the turn that follows."""

    is_held: bool
    following: str | None


class QueuedTurn(NamedTuple):
    """The columns that a claim reads, under the names of the query."""

    session_id: str
    ordinal: int
    fence: int
    allow_failover: bool
    cancel_requested: bool
    user_message__ordinal: int | None
    session__agent_id: int
    session__route: list[str]
    session__system_prompt: str


def claim(turn_id: str, worker: str) -> TurnWork | None:
    """Take a queued turn whose session is free; None if it is not to be had."""
    try:
        with transaction.atomic():
            return _claim(turn_id, worker)
    except IntegrityError:  # another turn of the session was claimed meanwhile
        return None


def _claim(turn_id: str, worker: str) -> TurnWork | None:
    queued = Turn.objects.filter(pk=turn_id, state=TurnState.QUEUED)
    row = next(iter(queued.values_list(*QueuedTurn._fields)), None)
    if row is None:
        return None
    turn = QueuedTurn(*row)
    if first_open(turn.session_id) != turn_id:
        return None
    claimed = queued.filter(fence=turn.fence).update(
        state=TurnState.RUNNING,
        fence=turn.fence + 1,
        worker=worker,
        lease_until=Now() + timedelta(seconds=conf().lease_s),
        started_at=Now(),
    )
    return _work_of(turn_id, turn) if claimed else None


def first_open(session_id: str) -> str | None:
    """The turn whose time it is: no turn before it can open again."""
    turns = Turn.objects.filter(session=session_id, state__in=OPEN_STATES)
    return turns.order_by("ordinal").values_list("pk", flat=True).first()


def _work_of(turn_id: str, turn: QueuedTurn) -> TurnWork:
    """What the claim that was just made is to do."""
    plan = plan_of(turn.session__agent_id)
    candidates = candidates_of(turn.session__route or plan.route)
    system_prompts = (plan.system_prompt, turn.session__system_prompt)
    asked = turn.user_message__ordinal
    return TurnWork(
        turn_id=turn_id,
        session_id=turn.session_id,
        ordinal=turn.ordinal,
        fence=turn.fence + 1,
        agent=plan.slug,
        candidates=candidates if turn.allow_failover else candidates[:1],
        prompt=tuple(
            prompt_of(
                turn.session_id,
                turn.ordinal if asked is None else asked,
                "\n\n".join(text for text in system_prompts if text),
            )
        ),
        tools=plan.tools,
        canned_reply=plan.canned_reply,
        max_output_tokens=plan.max_output_tokens,
        temperature=plan.temperature,
        is_again=asked is not None and asked < turn.ordinal,
        is_cancelled=turn.cancel_requested,
    )


def renew(worker: str) -> dict[str, bool]:
    """Extend the leases of a process; its turns by id, True if to be cancelled."""
    mine = Turn.objects.filter(worker=worker, state__in=ACTIVE_STATES)
    mine.update(lease_until=Now() + timedelta(seconds=conf().lease_s))
    return dict(mine.values_list("pk", "cancel_requested"))


def mark_first_delta(turn_id: str, fence: int) -> bool:
    """Commit that text is about to go out; False if the claim was lost."""
    return bool(_held(turn_id, fence).update(has_deltas=True))


@transaction.atomic
def start_tools(
    turn_id: str,
    fence: int,
    calls: Iterable[ToolCallRecord],
    attempts: Iterable[AttemptRecord],
) -> bool:
    """Commit that tools are about to run, so that none runs twice."""
    if not _held(turn_id, fence).update(has_started_tool=True):
        return False
    _book(turn_id, attempts)
    ToolCall.objects.bulk_create(_row(turn_id, call) for call in calls)
    return True


def end_tools(turn_id: str, calls: Iterable[ToolCallRecord]) -> None:
    """Store what came of the calls."""
    for call in calls:
        ToolCall.objects.filter(
            turn=turn_id, round=call.round_no, position=call.position
        ).update(
            status=call.status,
            result=call.result,
            error=call.error,
            duration_ms=call.duration_ms,
        )


def finish(work: TurnWork, end: TurnEnd) -> Finish:
    """Commit the one end of a turn, and tell whose time comes now."""
    is_held = _finish(work, end)
    return Finish(is_held, first_open(work.session_id))


@transaction.atomic
def _finish(work: TurnWork, end: TurnEnd) -> bool:
    usage = end.usage
    ended = _held(work.turn_id, work.fence).update(
        state=end.state,
        terminal_n=end.terminal_n,
        has_deltas=end.has_deltas,
        stop_reason=end.stop_reason,
        digest=end.digest,
        error_code=end.error_code,
        error=end.error,
        error_retryable=end.error_retryable,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cached_tokens_in=usage.cached_tokens_in,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=usage.cost_usd,
        is_estimated=usage.is_estimated,
        ended_at=Now(),
        lease_until=None,
    )
    if not ended:
        return False
    _book(work.turn_id, end.attempts)
    if end.text:
        _store_reply(work, end.text)
    return True


def _store_reply(work: TurnWork, text: str) -> None:
    Message.objects.create(
        session_id=work.session_id,
        turn_id=work.turn_id,
        ordinal=work.ordinal,
        position=1,
        role="assistant",
        content=text,
    )
    if work.is_again:
        # Whatever was answered to this question before, also since it was asked again.
        question = Turn.objects.filter(pk=work.turn_id).values("user_message")[:1]
        answers = Message.objects.filter(role="assistant", turn__user_message=question)
        answers.exclude(turn=work.turn_id).update(is_superseded=True)


def release(turn_id: str, fence: int) -> bool:
    """Put a turn back in the queue that its process could not bring to an end."""
    return bool(
        _held(turn_id, fence).update(
            state=TurnState.QUEUED, worker="", lease_until=None
        )
    )


def request_cancel(session_id: str, turn_id: str) -> bool:
    """Ask for the end of a turn; False if it has ended already."""
    if not ids.could_be_id(turn_id):
        raise NotFound("There is no such turn.")
    turns = Turn.objects.filter(session=session_id, pk=turn_id)
    if turns.filter(state__in=OPEN_STATES).update(cancel_requested=True):
        return True
    if not turns.exists():
        raise NotFound("There is no such turn.")
    return False


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


def _book(turn_id: str, attempts: Iterable[AttemptRecord]) -> None:
    rows = [_attempt_row(turn_id, record) for record in attempts]
    if rows:
        Attempt.objects.bulk_create(rows)


def _attempt_row(turn_id: str, record: AttemptRecord) -> Attempt:
    fields = asdict(record)
    usage = fields.pop("usage")
    fields["round"] = fields.pop("round_no")
    return Attempt(turn_id=turn_id, **fields, **usage)


def _row(turn_id: str, call: ToolCallRecord) -> ToolCall:
    fields = asdict(call)
    fields["round"] = fields.pop("round_no")
    return ToolCall(turn_id=turn_id, **fields)
