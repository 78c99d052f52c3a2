"""When what was heard of a session is believed, and when the database is asked."""

from __future__ import annotations

import pytest

from sessions_app.bus.window import QUIET_TICKS, SILENT_TICKS, WIDTH, Window
from sessions_app.domain.cursor import Cursor
from tests.bus.test_log import delta

NOTHING = (False, False)
ASK = (True, True)
HOUR = 3600


def asked_at(window: Window, head: bytes | None, ticks: int) -> list[int]:
    """The ticks after which readers ask the database, the head staying as it is."""
    looks = [window.compare(head) for _ in range(ticks)]
    assert set(looks) <= {NOTHING, ASK}
    return [n for n, look in enumerate(looks, 1) if look == ASK]


def test_open_turn_that_is_silent_is_asked_for_again_and_again() -> None:
    window = Window()
    assert window.compare(b"1-3-0") == (True, False)
    every = range(SILENT_TICKS, HOUR + 1, SILENT_TICKS)
    assert asked_at(window, b"1-3-0", HOUR) == list(every)


# A turn that ended after its log was lost, and whose process died before it said so,
# was waited for without end: an empty log has no head that could differ.
@pytest.mark.parametrize("head", [None, b"1-5-1"])
def test_log_without_an_open_turn_is_believed_a_minute_at_most(
    head: bytes | None,
) -> None:
    window = Window()
    window.compare(head)
    asked = asked_at(window, head, HOUR)
    assert asked[0] <= SILENT_TICKS
    pauses = [after - before for before, after in zip(asked, asked[1:], strict=False)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == QUIET_TICKS
    assert len(asked) < HOUR / QUIET_TICKS + 5


def test_news_are_a_reason_to_ask_soon_again() -> None:
    window = Window()
    window.compare(b"1-5-1")
    asked_at(window, b"1-5-1", HOUR)
    assert window.compare(b"2-1-0") == (True, False)
    assert asked_at(window, b"2-1-0", SILENT_TICKS) == [SILENT_TICKS]


def test_long_turn_is_kept_in_part() -> None:
    window = Window()
    last = 10 * WIDTH
    for n in range(1, last + 1):
        window.add([delta(1, n)])
        assert len(window._entries) <= 2 * WIDTH
    first_kept = window._entries[0].cursor.n
    assert last - first_kept >= WIDTH - 1
    found = window.after(Cursor(1, first_kept - 1), 0)
    assert found is not None
    assert [entry.cursor.n for entry in found] == list(range(first_kept, last + 1))
    assert window.after(Cursor(1, first_kept - 2), 0) is None
