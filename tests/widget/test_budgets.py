from __future__ import annotations

import pytest

from sessions_app.models import Budget, BudgetLedger
from tests.widget.conftest import Visitors


def post(visitors: Visitors, token: str) -> tuple[int, str]:
    path = visitors.session(token)
    answer = visitors.call(token, "POST", f"{path}/messages", {"content": "x"})
    return answer.status, answer.code if answer.status >= 400 else ""


@pytest.mark.parametrize("on", ["embed:pk_shop", "visitor", "session", "agent:helper"])
def test_visitor_of_a_used_up_budget_is_refused(visitors: Visitors, on: str) -> None:
    Budget.objects.create(on=on, period="day", usd="0")
    assert post(visitors, visitors.token()) == (402, "budget_exceeded")


def test_budget_of_another_embed_does_not_count(visitors: Visitors) -> None:
    Budget.objects.create(on="embed:pk_other", period="day", usd="0")
    assert post(visitors, visitors.token())[0] == 202


# C70: a new session does not begin a visitor's budget anew
def test_visitor_has_one_budget_over_all_sessions(visitors: Visitors) -> None:
    Budget.objects.create(on="visitor", period="day", tokens=6000)
    token = visitors.token()
    assert post(visitors, token)[0] == 202
    assert post(visitors, token) == (402, "budget_exceeded")
    assert post(visitors, visitors.token())[0] == 202
    assert BudgetLedger.objects.count() == 2
