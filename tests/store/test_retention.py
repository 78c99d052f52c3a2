"""What is over its time goes, and what it has cost stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db.models import Sum
from django.utils import timezone

from sessions_app.domain.errors import NotFound
from sessions_app.models import Agent, Attempt, Message, Session, ToolCall, Turn
from sessions_app.models.budget import Budget, BudgetLedger
from sessions_app.models.idempotency import Idempotency
from sessions_app.store import posting, retention, sessions
from sessions_app.store.posting import TurnDraft
from sessions_app.store.sessions import SessionFilter
from tests.fakes.edge import Rest
from tests.fakes.people import make_agent, make_embed, make_key, make_session

pytestmark = pytest.mark.django_db
SECRET = "xyzzy"
VISITOR = f"visitor:pk_shop:{SECRET}"


@pytest.fixture
def agent() -> Agent:
    return make_agent()


def make_old(
    agent: Agent, owner: str = VISITOR, *, days: float = 2, **fields: Any
) -> Session:
    """A conversation of one turn that ended some days ago, the secret all over it."""
    at = timezone.now() - timedelta(days=days)
    session = make_session(
        agent,
        owner,
        title=SECRET,
        user=SECRET,
        system_prompt=SECRET,
        metadata={SECRET: SECRET},
        summary=SECRET,
        handover_reason=SECRET,
        operator=SECRET,
        **fields,
    )
    turn = Turn.objects.create(
        session=session,
        ordinal=1,
        state="completed",
        ended_at=at,
        operator=SECRET,
        client_tools=[{"name": SECRET}],
        tool_choice={"name": SECRET},
        round_texts=[SECRET],
        shown_texts=[SECRET],
        rating="up",
        rating_comment=SECRET,
        digest=SECRET,
        tokens_in=10,
        cost_usd=Decimal("0.5"),
    )
    fill(turn)
    Session.objects.filter(pk=session.pk).update(updated_at=at, last_ordinal=1)
    return session


def fill(turn: Turn) -> None:
    """Messages, an attempt, a tool call and a record, with the secret in each."""
    session, owner = turn.session, turn.session.owner
    for position in range(2):
        message = Message.objects.create(
            session=session,
            turn=turn,
            ordinal=1,
            position=position,
            role="user",
            content=SECRET,
            author=owner,
            operator=SECRET,
        )
    Turn.objects.filter(pk=turn.pk).update(user_message=message)
    Attempt.objects.create(
        turn=turn,
        number=1,
        round=1,
        provider="primary",
        model="gpt-x",
        status="completed",
        diagnosis=SECRET,
        tokens_in=10,
        cost_usd=Decimal("0.5"),
    )
    ToolCall.objects.create(
        turn=turn,
        call_id=SECRET,
        round=1,
        position=0,
        name="find",
        arguments={"q": SECRET},
        result=SECRET,
        error=SECRET,
    )
    Idempotency.objects.create(
        caller=owner, session=session, key=SECRET, body_digest="x", turn=turn
    )


def stored_texts() -> Iterator[str]:
    """Every row of the two apps, as it is stored."""
    for label in ("sessions_app", "widget"):
        for model in apps.get_app_config(label).get_models():
            yield from (repr(row) for row in model._default_manager.values())


def keep(agent: Agent, days: int | None) -> None:
    Agent.objects.filter(pk=agent.pk).update(retention_days=days)


def test_nothing_that_was_said_is_left(agent: Agent) -> None:
    keep(agent, 1)
    session = make_old(agent)
    assert any(SECRET in text for text in stored_texts())
    assert retention.purge_some() == [session.pk]
    assert [text for text in stored_texts() if SECRET in text] == []
    assert retention.purge_some() == []


def test_money_is_counted_as_before(agent: Agent) -> None:
    keep(agent, 1)
    budget = Budget.objects.create(on="visitor", period="total", usd=1)
    ledger = BudgetLedger.objects.create(
        budget=budget, subject=VISITOR, unit="usd", spent=5
    )
    make_old(agent)
    retention.purge_some()
    attempts = Attempt.objects.filter(turn__session__agent=agent)
    assert attempts.aggregate(cost=Sum("cost_usd"), used=Sum("tokens_in")) == {
        "cost": Decimal("0.5"),
        "used": 10,
    }
    turn = Turn.objects.get()
    assert (turn.cost_usd, turn.tokens_in, turn.rating) == (Decimal("0.5"), 10, "up")
    ledger.refresh_from_db()
    assert ledger.spent == 5
    assert Session.objects.get().owner == "visitor:pk_shop:"


def test_purged_conversation_is_not_found(agent: Agent) -> None:
    rest = Rest()
    make_key("lk_all", scopes=["sessions", "sessions.all"])
    keep(agent, 1)
    session = make_old(agent)
    path = f"/v1/sessions/{session.pk}"
    assert rest("GET", path, key="lk_all").status == 200
    retention.purge_some()
    assert rest("GET", path, key="lk_all").status == 404
    assert rest("GET", f"{path}/messages", key="lk_all").status == 404
    assert rest("DELETE", path, key="lk_all").status == 404
    listed = rest("GET", "/v1/sessions", key="lk_all").json["data"]
    assert session.pk not in [each["id"] for each in listed]
    with pytest.raises(NotFound):
        posting.post(TurnDraft(session.pk, "key:1", SessionFilter(), "hello"))


def test_purged_conversation_is_not_in_the_dashboard(
    admin_client: Any, agent: Agent
) -> None:
    keep(agent, 1)
    session = make_old(agent)
    url = "/admin/sessions_app/session/"
    assert session.pk in admin_client.get(url).content.decode()
    retention.purge_some()
    assert session.pk not in admin_client.get(url).content.decode()


@pytest.mark.parametrize(
    ("of_agent", "of_embed", "is_gone"),
    [
        (None, None, False),
        (3, None, False),
        (1, None, True),
        (None, 3, False),
        (None, 1, True),
        (30, 1, True),
        (1, 30, True),
        (30, 30, False),
    ],
)
def test_shorter_time_counts(
    agent: Agent, of_agent: int | None, of_embed: int | None, is_gone: bool
) -> None:
    keep(agent, of_agent)
    make_embed(agent, retention_days=of_embed)
    make_old(agent, days=2)
    assert bool(retention.purge_some()) is is_gone


def test_embeds_that_differ_in_case_are_two(agent: Agent) -> None:
    make_embed(agent, "pk_Shop", retention_days=0)
    make_embed(agent, "pk_Sho", retention_days=0)
    make_old(agent, "visitor:pk_shop:abc")
    assert retention.purge_some() == []


def test_nothing_is_kept_beyond_the_life_of_the_log(
    agent: Agent, settings: Any
) -> None:
    settings.LANTERN = {"log_ttl_s": 600.0}
    keep(agent, 0)
    make_old(agent, days=9 / 1440)
    assert retention.purge_some() == []
    rested = make_old(agent, days=11 / 1440)
    assert retention.purge_some() == [rested.pk]


@pytest.mark.parametrize("state", ["queued", "running", "awaiting_tools"])
def test_open_turn_keeps_its_conversation(agent: Agent, state: str) -> None:
    keep(agent, 1)
    make_old(agent)
    Turn.objects.update(state=state)
    assert retention.purge_some() == []


def test_end_of_a_long_turn_counts_as_use(agent: Agent) -> None:
    keep(agent, 1)
    make_old(agent)
    Turn.objects.update(ended_at=timezone.now())
    assert retention.purge_some() == []


def test_new_message_counts_as_use(agent: Agent) -> None:
    keep(agent, 1)
    session = make_old(agent)
    posting.post(TurnDraft(session.pk, VISITOR, SessionFilter(), "hello"))
    Turn.objects.update(state="completed")
    assert retention.purge_some() == []


def test_purge_goes_in_small_batches(agent: Agent) -> None:
    keep(agent, 1)
    for _ in range(retention.BATCH + 1):
        old = make_session(agent)
    Session.objects.update(updated_at=timezone.now() - timedelta(days=2))
    assert len(retention.purge_some()) == retention.BATCH
    assert len(retention.purge_some()) == 1
    assert sessions.visible(SessionFilter()).filter(pk=old.pk).first() is None


def test_dry_run_only_counts(agent: Agent, capsys: Any) -> None:
    keep(agent, 1)
    make_embed(agent, retention_days=30)
    make_old(agent)
    call_command("purge", "--dry-run")
    assert capsys.readouterr().out.splitlines() == [
        "agent helper (retention_days = 1): 1 due",
        "embed pk_shop (retention_days = 30): 0 due",
    ]
    assert Message.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_command_purges_all_that_is_due(agent: Agent, capsys: Any) -> None:
    keep(agent, 1)
    for _ in range(3):
        make_old(agent)
        ToolCall.objects.update(call_id="x")
    call_command("purge")
    assert capsys.readouterr().out == "3 conversations removed.\n"
    assert not Message.objects.exists()
