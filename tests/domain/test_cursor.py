from __future__ import annotations

import pytest

from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import BadCursor


def test_cursor_reads_what_it_writes() -> None:
    assert Cursor.parse(str(Cursor(12, 345))) == Cursor(12, 345)


def test_cursors_order_by_turn_first() -> None:
    assert Cursor(2, 1) > Cursor(1, 1_000_000_001)


@pytest.mark.parametrize(
    "text",
    ["", "1", "1-", "-1-1", "01-1", "1-1 ", "1-x", "١-١", "9" * 1_000_000, "1-1\n"],
)
def test_garbage_is_a_bad_cursor(text: str) -> None:
    with pytest.raises(BadCursor):
        Cursor.parse(text)
