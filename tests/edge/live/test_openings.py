"""Readers that come back at the same time."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import BadCursor, NotFound, Unauthorized
from sessions_app.edge.live.openings import Opening, starts_of
from sessions_app.edge.live.request import LiveRequest
from sessions_app.models import Session, Turn
from sessions_app.store.together import Together
from tests.fakes.edge import People
from tests.fakes.people import (
    ALICE_KEY,
    BOB_KEY,
    make_embed,
    make_session,
    visitor_token,
)

pytestmark = pytest.mark.django_db
COUNT = 20


def opening(token: str, session: Session, cursor: Cursor | None) -> Opening:
    headers = [(b"authorization", f"Bearer {token}".encode())]
    scope = {"headers": headers, "query_string": b""}
    return Opening(LiveRequest(scope), session.pk, cursor, None, 7)


def with_turn(session: Session) -> Session:
    Turn.objects.create(session=session, ordinal=1, state="running", next_n=8)
    return session


def together(openings: list[Opening]) -> list[object]:
    return list(Together(starts_of)._call(openings))


def test_readers_of_many_sessions_cost_two_queries(people: People) -> None:
    owner = f"key:{people.alice.pk}"
    sessions = [with_turn(make_session(people.agent, owner)) for _ in range(COUNT)]
    asked = [opening(ALICE_KEY, session, Cursor(1, 5)) for session in sessions]
    with CaptureQueriesContext(connection) as queries:
        starts = together(asked)
    assert [start[0] for start in starts] == [Cursor(1, 5)] * COUNT
    assert len(queries) == 2


# The one of each is for whether it had everything deleted.
def test_visitors_cost_a_query_each(people: People) -> None:
    embed = make_embed(people.agent)
    asked = []
    for n in range(COUNT):
        session = make_session(people.agent, f"visitor:{embed.key}:v{n}")
        token = visitor_token(embed, f"v{n}")
        asked.append(opening(token, with_turn(session), Cursor(1, 5)))
    with CaptureQueriesContext(connection) as queries:
        starts = together(asked)
    assert [start[0] for start in starts] == [Cursor(1, 5)] * COUNT
    assert len(queries) == COUNT + 2


def test_each_is_refused_for_itself(people: People) -> None:
    session = with_turn(people.session)
    starts = together(
        [
            opening(BOB_KEY, session, Cursor(1, 5)),
            opening(ALICE_KEY, session, Cursor(1, 5)),
            opening("lk_nobody", session, Cursor(1, 5)),
            opening(ALICE_KEY, session, Cursor(1, 99)),
            opening(ALICE_KEY, session, Cursor(2, 1)),
            opening(ALICE_KEY, session, None),
        ]
    )
    kinds = [NotFound, tuple, Unauthorized, BadCursor, BadCursor, tuple]
    assert list(map(type, starts)) == kinds


def test_purged_session_is_none(people: People) -> None:
    session = with_turn(people.session)
    Session.objects.update(purged_at=session.created_at)
    [refusal] = together([opening(ALICE_KEY, session, Cursor(1, 5))])
    assert isinstance(refusal, NotFound)
