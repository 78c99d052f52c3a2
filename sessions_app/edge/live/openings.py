"""Where readers of events begin, looked up for all who come at the same time.

With the log at hand one that comes back costs a part of one query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.cursor import START, Cursor
from sessions_app.domain.errors import BadCursor, NotFound
from sessions_app.edge.live.request import LiveRequest
from sessions_app.edge.live.standing import Standing
from sessions_app.store.replay import StoredTurn, TurnKey, turns_at
from sessions_app.store.together import Together, or_error

Start = tuple[Cursor, Standing]


@dataclass(frozen=True, slots=True)
class Opening:
    """Who reads which session, from where; ``logged_n`` is as ``shown_n`` gives it."""

    request: LiveRequest
    session_id: str
    cursor: Cursor | None
    bad_cursor: BadCursor | None
    logged_n: int | None

    @property
    def key(self) -> TurnKey | None:
        """The turn that the cursor is in, if it is in one."""
        if self.cursor is None or self.cursor == START:
            return None
        return self.session_id, self.cursor.turn

    def standing(self) -> Standing:
        """Who asks; raises what refuses the credential."""
        query = self.request.query("after", "ticket")
        ticket = query.get("ticket")
        return self.request.standing(
            ticket=(ticket, self.session_id) if ticket else None, allow_cookie=True
        )

    def start(self, standing: Standing, turn: StoredTurn | None) -> Start:
        """Raises NotFound, or BadCursor if there never was such a place."""
        caller = standing.principal.caller
        if turn is None or self.cursor is None:
            start = service.find_start(caller, self.session_id, self.cursor)
            if self.bad_cursor is not None:
                raise self.bad_cursor
            if self.cursor is not None:
                service.check_cursor(self.session_id, self.cursor, self.logged_n)
            return start, standing
        if not caller.scope.covers(owner=turn.owner, agent=turn.agent):
            raise NotFound("There is no such session.")
        turn.check(self.cursor, self.logged_n)
        return self.cursor, standing


async def shown_n(session_id: str, cursor: Cursor) -> int | None:
    """The last ``n`` that the cursor's turn may have shown; None if no log can tell.

    A log that is behind the cursor may be so for a moment only.
    """
    log = get_bus().log
    logged_n = await log.head_n(session_id, cursor.turn)
    if log.may_be_behind and logged_n is not None and logged_n < cursor.n:
        return None
    return logged_n


def starts_of(openings: Sequence[Opening]) -> list[Start | Exception]:
    """The start of each, or what refuses it; raises what the database raises."""
    standings = [or_error(opening.standing) for opening in openings]
    both = list(zip(openings, standings, strict=True))
    allowed = [opening.key for opening, who in both if isinstance(who, Standing)]
    turns = turns_at({key for key in allowed if key is not None})

    def start(opening: Opening, standing: Standing) -> Start:
        key = opening.key
        return opening.start(standing, None if key is None else turns.get(key))

    return [
        or_error(lambda: start(opening, who)) if isinstance(who, Standing) else who  # noqa: B023
        for opening, who in both
    ]


openings: Together[Opening, Start] = Together(starts_of)
