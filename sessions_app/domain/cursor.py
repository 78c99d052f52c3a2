"""A place in a session's event log."""

from __future__ import annotations

import re
from typing import NamedTuple

from sessions_app.domain.errors import BadCursor

_FORM = re.compile(r"(0|[1-9]\d{0,8})-(0|[1-9]\d{0,9})")

SWEPT_TERMINAL_N = 1_000_000_000
"""The ``n`` of the end that the sweeper writes: later than any delta of the
writer that died, whatever it had already sent."""


class Cursor(NamedTuple):
    """``<turn ordinal>-<n>``; the first turn is 1, its first event is ``1-1``."""

    turn: int
    n: int

    def __str__(self) -> str:
        return f"{self.turn}-{self.n}"

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """Read ``3-14``; raises BadCursor for anything else, of any length."""
        match = _FORM.fullmatch(text) if len(text) <= 20 else None
        if match is None:
            raise BadCursor()
        return cls(int(match[1]), int(match[2]))


START = Cursor(0, 0)
