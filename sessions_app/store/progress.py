"""Turns that wait for somebody: what they came to, and what they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from sessions_app.conf import conf
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.outcome import (
    PENDING,
    AttemptRecord,
    CallStatus,
    Progress,
    ToolCallRecord,
)
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import TurnState
from sessions_app.domain.usage import Usage
from sessions_app.models import Attempt, ToolCall, Turn

DECLINED = "The call was not allowed."


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a client's tool came to."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn that waits, with the calls that it waits for."""

    turn_id: str
    session_id: str
    ordinal: int
    fence: int
    next_n: int
    calls: tuple[ToolCallRecord, ...]


def progress_of(turn_id: str) -> Progress:
    """What the earlier claims of a turn came to."""
    turn = Turn.objects.get(pk=turn_id)
    calls = tuple(_call(row) for row in turn.tool_calls.all())
    asked = _asked(turn, calls)
    return Progress(
        # Each request is an event, and one more says that the turn waits.
        next_n=turn.next_n - len(asked) - bool(asked),
        round_texts=tuple(turn.round_texts),
        calls=calls,
        attempts=booked(turn_id),
        shown=tuple(turn.shown_texts),
        asked=asked,
    )


def _asked(turn: Turn, calls: Sequence[ToolCallRecord]) -> tuple[ToolCallRecord, ...]:
    """What the last round asked for, if the turn came to wait for it."""
    last = [each for each in calls if each.round_no == len(turn.round_texts)]
    awaited = [each for each in last if each.is_awaited]
    is_pending = any(each.status in PENDING for each in awaited)
    if is_pending and turn.tools_due_at is None:
        return ()
    return tuple(replace(each, status=_status_at_first(each)) for each in awaited)


def _status_at_first(call: ToolCallRecord) -> CallStatus:
    is_declined = call.status == CallStatus.FAILED and call.error == DECLINED
    if is_declined or call.status in (CallStatus.UNAPPROVED, CallStatus.APPROVED):
        return CallStatus.UNAPPROVED
    return CallStatus.REQUESTED


def booked(turn_id: str) -> tuple[AttemptRecord, ...]:
    """The stored attempts of a turn."""
    rows = Attempt.objects.filter(turn=turn_id).order_by("number")
    return tuple(_attempt(row) for row in rows)


def begin_wait(work: TurnWork, next_n: int, shown: Sequence[str]) -> bool:
    """Let go of the turn until it is sent what it asked for.

    False if the claim was lost, or somebody asked for the turn's end meanwhile.
    """
    return bool(
        Turn.objects.filter(
            pk=work.turn_id,
            fence=work.fence,
            state=TurnState.RUNNING,
            cancel_requested=False,
        ).update(
            state=TurnState.AWAITING_TOOLS,
            next_n=next_n,
            shown_texts=list(shown),
            worker="",
            lease_until=None,
            tools_due_at=Now() + timedelta(seconds=conf().tool_wait_s),
        )
    )


def is_cancelled(turn_id: str, fence: int) -> bool:
    """Whether a claim still stands whose turn is to end."""
    turns = Turn.objects.filter(pk=turn_id, fence=fence, state=TurnState.RUNNING)
    return turns.filter(cancel_requested=True).exists()


@transaction.atomic
def take_results(turn: Turn, results: Sequence[ToolResult]) -> bool:
    """Store the results of all requested calls; True if the turn may go on now.

    BadRequest if one is missing, unknown, or named twice.
    """
    requested = _locked(turn, CallStatus.REQUESTED)
    given = {result.call_id: result for result in results}
    if len(given) != len(results):
        raise BadRequest("A call has two results.", param="results")
    _require_same(given, requested)
    for call_id, result in given.items():
        row = requested[call_id]
        if result.is_error:
            row.status, row.error = CallStatus.FAILED, result.content
        else:
            row.status, row.result = CallStatus.COMPLETED, result.content
        row.save(update_fields=["status", "result", "error"])
    return _go_on(turn)


@transaction.atomic
def take_approvals(turn: Turn, approvals: Mapping[str, bool]) -> bool:
    """Allow or decline calls, one or more; True if the turn may go on now."""
    waiting = _locked(turn, CallStatus.UNAPPROVED)
    for call_id, is_allowed in approvals.items():
        row = waiting.get(call_id)
        if row is None:
            raise _no_such_call(call_id)
        row.status = CallStatus.APPROVED if is_allowed else CallStatus.FAILED
        row.error = "" if is_allowed else DECLINED
        row.save(update_fields=["status", "error"])
    return _go_on(turn)


def waiting_turns() -> list[WaitingTurn]:
    """All turns that wait, for a log that lost what they asked for."""
    turns = Turn.objects.filter(state=TurnState.AWAITING_TOOLS)
    return [
        WaitingTurn(
            turn.pk,
            turn.session_id,
            turn.ordinal,
            turn.fence,
            turn.next_n,
            tuple(_call(row) for row in turn.tool_calls.all() if row.status in PENDING),
        )
        for turn in turns.prefetch_related("tool_calls")
    ]


def _locked(turn: Turn, status: CallStatus) -> dict[str, ToolCall]:
    """The turn's calls of that status; the turn is locked, and must wait."""
    # An UPDATE locks on every database, a SELECT only on some.
    waits = Turn.objects.filter(pk=turn.pk, state=TurnState.AWAITING_TOOLS)
    if not waits.update(next_n=F("next_n")):
        raise BadRequest("This turn waits for nothing.")
    calls = ToolCall.objects.filter(turn=turn, status=str(status))
    return {call.call_id: call for call in calls}


def _require_same(
    given: Mapping[str, ToolResult], requested: Mapping[str, ToolCall]
) -> None:
    for call_id in given:
        if call_id not in requested:
            raise _no_such_call(call_id)
    for call_id in requested:
        if call_id not in given:
            raise BadRequest(
                f"All results come together; that of {call_id} is missing.",
                param="results",
            )


def _no_such_call(call_id: str) -> BadRequest:
    return BadRequest(f"The turn does not wait for the call {call_id[:100]!r}.")


def _go_on(turn: Turn) -> bool:
    pending = ToolCall.objects.filter(turn=turn, status__in=list(map(str, PENDING)))
    if pending.exists():
        return False
    waits = Turn.objects.filter(pk=turn.pk, state=TurnState.AWAITING_TOOLS)
    return bool(waits.update(state=TurnState.QUEUED, tools_due_at=None))


def _call(row: ToolCall) -> ToolCallRecord:
    return ToolCallRecord(
        call_id=row.call_id,
        round_no=row.round,
        position=row.position,
        name=row.name,
        arguments=row.arguments,
        status=row.status,
        result=row.result,
        error=row.error,
        duration_ms=row.duration_ms,
        is_awaited=row.is_awaited,
    )


def _attempt(row: Attempt) -> AttemptRecord:
    return AttemptRecord(
        number=row.number,
        round_no=row.round,
        provider=row.provider,
        model=row.model,
        status=row.status,
        usage=Usage(
            tokens_in=row.tokens_in,
            tokens_out=row.tokens_out,
            cached_tokens_in=row.cached_tokens_in,
            cache_write_tokens_in=row.cache_write_tokens_in,
            reasoning_tokens=row.reasoning_tokens,
            cost_usd=row.cost_usd,
            is_estimated=row.is_estimated,
        ),
        duration_ms=row.duration_ms,
        ttft_ms=row.ttft_ms,
        error_code=row.error_code,
        error_status=row.error_status,
        diagnosis=row.diagnosis,
    )
