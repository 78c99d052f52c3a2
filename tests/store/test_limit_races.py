"""Many messages at the same moment on one limit of turns at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from sessions_app.conf import conf
from sessions_app.domain.errors import RateLimited
from sessions_app.models import Agent, RequestLimit, Turn
from sessions_app.store import posting
from sessions_app.store.posting import TurnDraft
from sessions_app.store.sessions import SessionFilter
from tests.fakes.people import make_agent, make_session

EACH = 10
MOST = 3


def race(agent: Agent) -> int:
    """Post in sessions of their own; how many were let in."""
    admitted = 0
    for _ in range(EACH):
        draft = TurnDraft(make_session(agent).pk, "key:1", SessionFilter(), "hello")
        try:
            posting.post(draft)
        except RateLimited:
            continue
        admitted += 1
    connections.close_all()
    return admitted


@pytest.mark.timeout(60)
def test_races_never_go_beyond_the_limit(transactional_db: None) -> None:
    agent = make_agent()
    RequestLimit.objects.create(on="agent:helper", concurrent_turns=MOST)
    threads = 2 * conf().database_threads - 1  # as many as PostgreSQL's pool lets in
    with ThreadPoolExecutor(threads) as pool:
        admitted = sum(pool.map(race, [agent] * threads))
    assert admitted == Turn.objects.count() == MOST
