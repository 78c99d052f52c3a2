"""A bill is as right after conversations were deleted as before."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.db.models import Q
from django.test import Client

from sessions_app.erasure import delete_all
from sessions_app.models import Agent, Attempt, DeletedUsage, Session, Turn
from sessions_app.store import sessions
from tests.fakes.people import make_agent, make_session

VISITOR = "visitor:pk_shop:Zm9vYmFy"
COSTS = ["0.000000000001", "0.1", "0.2", "1.234567890123", None]


@pytest.fixture
def agent(db: None) -> Agent:
    return make_agent()


def spend(agent: Agent, owner: str = VISITOR) -> Session:
    """A conversation with one attempt for each of the costs."""
    session = make_session(agent, owner, title="secret", user="alice@shop.example")
    turn = Turn.objects.create(session=session, ordinal=1, state="completed")
    for number, cost in enumerate(COSTS, 1):
        Attempt.objects.create(
            turn=turn,
            number=number,
            round=1,
            provider="primary",
            model="gpt-x",
            status="completed",
            diagnosis="secret",
            tokens_in=100,
            tokens_out=7,
            cached_tokens_in=3,
            cost_usd=None if cost is None else Decimal(cost),
        )
    return session


def bill() -> tuple[Decimal, int, int]:
    """Cost, tokens and attempts, of what is there and of what was deleted."""
    there, gone = list(Attempt.objects.all()), list(DeletedUsage.objects.all())
    return (
        sum((a.cost_usd or Decimal() for a in there), Decimal())
        + sum((u.cost_usd for u in gone), Decimal()),
        sum(a.tokens_in + a.tokens_out for a in there)
        + sum(u.tokens_in + u.tokens_out for u in gone),
        len(there) + sum(u.attempts for u in gone),
    )


def test_bill_is_the_same_to_the_last_digit(agent: Agent) -> None:
    for owner in (VISITOR, VISITOR, "visitor:pk_shop:other", "key:7"):
        spend(agent, owner)
    before = bill()
    assert before[0] == 4 * Decimal("1.534567890124")
    assert delete_all(Q(owner=VISITOR)) == 2
    assert bill() == before
    delete_all(Q())
    assert bill() == before
    assert Attempt.objects.count() == 0
    assert {row.payer for row in DeletedUsage.objects.all()} == {
        "visitor:pk_shop:",
        "key:7",
    }


def test_sums_hold_nobody(agent: Agent) -> None:
    session = spend(agent)
    sessions.delete(session.pk)
    (row,) = DeletedUsage.objects.values()
    kept = " ".join(map(str, row.values()))
    for told in ("Zm9vYmFy", "alice", "secret", session.pk):
        assert told not in kept
    assert row["unpriced"] == 1


def test_months_are_apart(agent: Agent) -> None:
    session = spend(agent)
    first = Attempt.objects.filter(number=1)
    first.update(created_at=datetime(2026, 1, 31, 23, 59, tzinfo=UTC))
    sessions.delete(session.pk)
    sessions.delete(session.pk)  # is counted once
    found = {row.month: row.attempts for row in DeletedUsage.objects.all()}
    assert found.pop("2026-01") == 1
    assert list(found.values()) == [len(COSTS) - 1]


def test_dashboard_shows_the_sums(admin_client: Client, agent: Agent) -> None:
    sessions.delete(spend(agent).pk)
    page = admin_client.get("/admin/sessions_app/deletedusage/").content.decode()
    assert "1.534567890124" in page
    row = DeletedUsage.objects.get()
    change = f"/admin/sessions_app/deletedusage/{row.pk}/delete/"
    assert admin_client.post(change, {"post": "yes"}).status_code == 403
