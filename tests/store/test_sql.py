from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db.models import Model
from django.forms import model_to_dict

from sessions_app.domain.states import TurnState
from sessions_app.models import Attempt, Message, Turn
from sessions_app.store import sql
from tests.fakes.people import make_agent, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn() -> Turn:
    session = make_session(make_agent())
    row = Turn(session=session, ordinal=1, cost_usd=Decimal("0.0000000001"))
    sql.insert(row)
    return row


def kept(row: Model) -> dict[str, object]:
    """The row as the database has it."""
    return model_to_dict(type(row)._default_manager.get(pk=row.pk))


def test_inserted_turn_reads_back_as_it_was(turn: Turn) -> None:
    assert kept(turn) == model_to_dict(turn)
    assert Turn.objects.get().state == TurnState.QUEUED


def test_inserted_message_reads_back_as_it_was(turn: Turn) -> None:
    row = Message(
        session_id=turn.session_id,
        turn=turn,
        ordinal=1,
        position=0,
        role="user",
        content="50 % of 'quotes' 🙂 %s",
    )
    sql.insert(row)
    assert kept(row) == model_to_dict(row)


def test_inserted_attempt_reads_back_as_it_was(turn: Turn) -> None:
    row = Attempt(turn=turn, number=1, round=1, status="failed", error_status=503)
    sql.insert(row)
    assert kept(row) == model_to_dict(row)


def test_row_is_made_now_by_the_database_clock(turn: Turn) -> None:
    age = datetime.now(UTC) - Turn.objects.get().created_at
    assert abs(age) < timedelta(minutes=1)


def test_lease_ends_after_its_length(turn: Turn) -> None:
    sql.change(f"UPDATE sessions_app_turn SET lease_until = {sql.lease_end()}")
    row = Turn.objects.get()
    assert row.lease_until is not None
    length = row.lease_until - datetime.now(UTC)
    assert timedelta(seconds=7) < length < timedelta(seconds=10)
