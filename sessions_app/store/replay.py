"""Where a reader begins, and what it is told of turns whose log is gone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Q

from sessions_app.domain import ids
from sessions_app.domain.announce import Announcement
from sessions_app.domain.cursor import START, SWEPT_TERMINAL_N, Cursor
from sessions_app.domain.errors import BadCursor
from sessions_app.domain.events import TerminalEvent
from sessions_app.domain.outcome import TurnEnd
from sessions_app.domain.states import ACTIVE_STATES, TurnState
from sessions_app.domain.usage import Usage
from sessions_app.models import Turn
from sessions_app.store import sql

BATCH = 100
END_OF_TURN = 2**62
UNLOGGED_N = 2
"""A turn that has not reached the log may have shown its two opening events
before its process died; run again, it shows the same two."""


LAST_BEGUN = """
SELECT ordinal, state FROM sessions_app_turn
WHERE session_id = %s AND state <> 'queued' ORDER BY ordinal DESC LIMIT 1
"""
AN_END = """
SELECT 1 FROM sessions_app_turn
WHERE session_id = %s AND ordinal >= %s AND terminal_n IS NOT NULL LIMIT 1
"""

TurnKey = tuple[str, int]
"""A session's id and the ordinal of a turn in it."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """What the database says of the turn that a cursor is in, and of its session."""

    state: str
    next_n: int
    terminal_n: int | None
    owner: str
    agent: str

    def check(self, cursor: Cursor, logged_n: int | None) -> None:
        """Refuse a place that the turn never had, as ``check_cursor`` does."""
        if logged_n is None:
            logged_n = SWEPT_TERMINAL_N if self.state in ACTIVE_STATES else 0
        last_n = max(logged_n, UNLOGGED_N, self.next_n - 1)
        if self.terminal_n is not None:
            last_n = self.terminal_n + 2
        if cursor.n > last_n:
            raise BadCursor()


def start_cursor(session_id: str) -> Cursor:
    """The beginning of the running turn, else now."""
    found = sql.rows(LAST_BEGUN, session_id)
    if not found:
        return START
    ((ordinal, state),) = found
    return Cursor(ordinal, 0 if state in ACTIVE_STATES else END_OF_TURN)


def check_cursor(session_id: str, cursor: Cursor, logged_n: int | None) -> None:
    """Refuse a cursor that never existed; ``logged_n`` is the log's head there.

    None says that the log cannot tell: then a turn that runs is believed.
    """
    if cursor == START:
        return
    key = (session_id, cursor.turn)
    turn = turns_at({key}).get(key)
    if turn is None:
        raise BadCursor()
    turn.check(cursor, logged_n)


def turns_at(keys: set[TurnKey]) -> dict[TurnKey, StoredTurn]:
    """Those of these turns that there are, in one query; none of a purged session."""
    places = [Q(session=one, ordinal=n) for one, n in keys if ids.could_be_id(one)]
    if not places:
        return {}
    found = Turn.objects.filter(reduce(or_, places), session__purged_at=None)
    rows = found.values_list(
        "session_id",
        "ordinal",
        "state",
        "next_n",
        "terminal_n",
        "session__owner",
        "session__agent__slug",
    )
    return {(row[0], row[1]): StoredTurn(*row[2:]) for row in rows}


def ended_turns(
    session_id: str, after: Cursor, up_to: int | None
) -> tuple[list[tuple[Cursor, TerminalEvent]], int, bool]:
    """The ends after a cursor, in order, at most BATCH at a time.

    Also the ordinal up to which these tell everything, and whether there are more.
    ``up_to`` is the last ordinal of interest; None means all.
    """
    # Most readers begin where nothing has ended since.
    has_any = sql.rows(AN_END, session_id, after.turn)
    found = _ended_since(session_id, after.turn, up_to) if has_any else []
    is_more = len(found) == BATCH
    told_to = found[-1].ordinal if found else after.turn - 1
    if up_to is not None and not is_more:
        told_to = max(told_to, up_to)
    ends = [(Cursor(turn.ordinal, turn.terminal_n or 0), turn) for turn in found]
    new = [(end, terminal_of(turn)) for end, turn in ends if end > after]
    return new, told_to, is_more


def _ended_since(session_id: str, ordinal: int, up_to: int | None) -> list[Turn]:
    turns = Turn.objects.filter(session=session_id, ordinal__gte=ordinal)
    turns = turns.exclude(terminal_n=None).order_by("ordinal")
    if up_to is not None:
        turns = turns.filter(ordinal__lte=up_to)
    return list(turns.prefetch_related("messages")[:BATCH])


def end_of(turn: Turn) -> TurnEnd:
    """The stored end of a turn."""
    text = None
    if turn.state != TurnState.FAILED:
        text = reply_text(turn)
    return TurnEnd(
        state=TurnState(turn.state),
        terminal_n=turn.terminal_n or 0,
        usage=usage_of(turn),
        text=text,
        stop_reason=turn.stop_reason,
        digest=turn.digest,
        error_code=turn.error_code,
        error=turn.error,
        error_retryable=turn.error_retryable,
        has_deltas=turn.has_deltas,
        operator=turn.operator,
    )


def terminal_of(turn: Turn) -> TerminalEvent:
    """The terminal event of an ended turn."""
    return Announcement(turn.session_id, turn.pk, end_of(turn)).terminal()


def reply_text(turn: Turn) -> str:
    """The stored reply, empty if there is none."""
    return next((m.content for m in turn.messages.all() if m.position == 1), "")


def usage_of(turn: Turn) -> Usage:
    """The turn's usage over all its rounds."""
    return Usage(
        tokens_in=turn.tokens_in,
        tokens_out=turn.tokens_out,
        cached_tokens_in=turn.cached_tokens_in,
        reasoning_tokens=turn.reasoning_tokens,
        cost_usd=turn.cost_usd,
        is_estimated=turn.is_estimated,
    )
