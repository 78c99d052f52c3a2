"""Many turns at once on one budget (case C65); LANTERN_RACES says how many."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import connections

from sessions_app.conf import conf
from sessions_app.domain.budget import PICO
from sessions_app.domain.errors import BudgetExceeded
from sessions_app.domain.outcome import AttemptRecord, TurnEnd
from sessions_app.domain.states import TurnState
from sessions_app.domain.usage import Usage
from sessions_app.models import (
    Agent,
    Attempt,
    Budget,
    BudgetLedger,
    BudgetReservation,
    Turn,
)
from sessions_app.store import claim, posting, turns
from sessions_app.store.posting import TurnDraft
from sessions_app.store.sessions import SessionFilter
from tests.fakes.people import make_agent, make_session

RACES = int(os.environ.get("LANTERN_RACES", "200"))
COST = Decimal("0.0002")  # 100 tokens of reply at 2 USD a million
WORST = 200  # tokens that one call may use up, and a little more


def end_with(number: int) -> TurnEnd:
    """Each turn uses what it may at most: a reply of full length."""
    usage = Usage(20, 100, cost_usd=COST)
    record = AttemptRecord(1, 1, "primary", "gpt-x", "completed", usage, 1)
    return TurnEnd(
        TurnState.COMPLETED, 5, usage, f"{number}", "stop", attempts=(record,)
    )


def race(agent: Agent, races: int) -> int:
    """Post and run turns, each in a session of its own; how many were let in."""
    admitted = 0
    for number in range(races):
        session_id = make_session(agent).pk
        draft = TurnDraft(session_id, "key:1", SessionFilter(), "hello")
        try:
            posted = posting.post(draft)
        except BudgetExceeded:
            continue
        admitted += 1
        work = claim.claim(posted.turn_id, "worker")
        assert work is not None
        assert turns.finish(work, end_with(number)).is_held
    connections.close_all()
    return admitted


@pytest.mark.timeout(600)
def test_races_never_go_beyond_the_budget(transactional_db: None) -> None:
    agent = make_agent(max_output_tokens=100)
    threads = 2 * conf().database_threads - 1  # as many as PostgreSQL's pool lets in
    limit = RACES * 60  # room for about half of them
    Budget.objects.create(on="agent:helper", period="total", tokens=limit)
    Budget.objects.create(on="agent:helper", period="month", usd=RACES * COST * 2)
    with ThreadPoolExecutor(threads) as pool:
        each = [RACES // threads + 1] * threads
        admitted = sum(pool.map(race, [agent] * threads, each))
    tokens, money = BudgetLedger.objects.order_by("unit")  # tokens, usd
    assert limit - WORST < tokens.spent <= limit
    assert admitted == Turn.objects.count() == Attempt.objects.count()
    assert tokens.spent == admitted * 120
    assert money.spent == admitted * COST * PICO
    assert not BudgetReservation.objects.exists()
