"""A process that has lost its claim writes nothing more, whatever it was about to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sessions_app import service
from sessions_app.domain.outcome import CallStatus, ToolCallRecord, TurnEnd
from sessions_app.domain.route import TurnWork
from sessions_app.domain.states import TurnState
from sessions_app.domain.usage import Usage
from sessions_app.models import ToolCall, Turn
from sessions_app.service import NewMessage
from sessions_app.store import progress
from sessions_app.store import turns as turn_store
from sessions_app.store.claim import claim
from tests.engine.conftest import CALLER
from tests.fakes.people import make_agent

pytestmark = pytest.mark.django_db

RAN = ToolCallRecord("c1", 1, 0, "clock", {}, CallStatus.STARTED)
ENDED = ToolCallRecord("c1", 1, 0, "clock", {}, CallStatus.COMPLETED, result="late")


@pytest.fixture
def claims() -> tuple[TurnWork, TurnWork]:
    """An old claim of a turn, and the one that stands, which has run a tool."""
    agent = make_agent()
    session = service.create_session(CALLER, agent.slug, {})
    posted = service.post_message(CALLER, session.pk, NewMessage("hello"))
    old = claim(posted.turn_id, "frozen")
    assert old is not None
    assert turn_store.release(old.turn_id, old.fence)
    new = claim(posted.turn_id, "other")
    assert new is not None
    assert turn_store.start_tools(new.turn_id, new.fence, [RAN], [], [""], 3)
    return old, new


END = TurnEnd(TurnState.COMPLETED, terminal_n=3, usage=Usage(), text="late")
ACTS: dict[str, Callable[[TurnWork], object]] = {
    "finish": lambda work: turn_store.finish(work, END).is_held,
    "release": lambda work: turn_store.release(work.turn_id, work.fence),
    "first delta": lambda work: turn_store.mark_first_delta(work, "a/b", 3, []),
    "start tools": lambda work: turn_store.start_tools(
        work.turn_id, work.fence, [RAN], [], ["late"], 3
    ),
    "start approved": lambda work: turn_store.start_approved(
        work.turn_id, work.fence, [ENDED]
    ),
    "end tools": lambda work: turn_store.end_tools(work.turn_id, work.fence, [ENDED]),
    "wait": lambda work: progress.begin_wait(work, 5, ["late"]),
}


def rows(turn_id: str) -> list[object]:
    return [
        *Turn.objects.filter(pk=turn_id).values(),
        *ToolCall.objects.filter(turn=turn_id).values(),
    ]


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_lost_claim_changes_nothing(
    claims: tuple[TurnWork, TurnWork], act: Callable[[TurnWork], object]
) -> None:
    old, new = claims
    before = rows(new.turn_id)
    assert act(old) is False
    assert rows(new.turn_id) == before


@pytest.mark.parametrize("name", ["finish", "release", "end tools", "wait"])
def test_claim_that_stands_changes_it(
    claims: tuple[TurnWork, TurnWork], name: str
) -> None:
    _, new = claims
    before = rows(new.turn_id)
    assert ACTS[name](new) is True
    assert rows(new.turn_id) != before
