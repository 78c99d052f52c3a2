from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from sessions_app.domain.budget import PICO
from sessions_app.models import Budget, BudgetLedger

LIST = "/admin/sessions_app/budget/"
FORM = {
    "on": "session",
    "period": "day",
    "usd": "1.5",
    "is_enabled": "on",
    "ledgers-TOTAL_FORMS": "0",
    "ledgers-INITIAL_FORMS": "0",
}


def test_operator_makes_a_budget(admin_client: Client) -> None:
    assert admin_client.post(f"{LIST}add/", FORM).status_code == 302
    assert str(Budget.objects.get().usd) == "1.50000000"


@pytest.mark.parametrize(
    "wrong",
    [
        {"on": "everybody"},
        {"usd": ""},
        {"usd": "-1"},
        {"fallback_input": "1"},
        {"period": "week"},
    ],
)
def test_budget_that_cannot_be_is_refused(admin_client: Client, wrong) -> None:
    page = admin_client.post(f"{LIST}add/", {**FORM, **wrong})
    assert page.status_code == 200
    assert not Budget.objects.exists()


def test_list_and_page_show_what_was_spent(admin_client: Client) -> None:
    budget = Budget.objects.create(on="agent:helper", period="day", usd="1")
    BudgetLedger.objects.create(
        budget=budget,
        subject="helper",
        unit="usd",
        period=f"{timezone.now():%Y-%m-%d}",
        spent=PICO // 4,
    )
    assert "$0.250000" in admin_client.get(LIST).content.decode()
    page = admin_client.get(f"{LIST}{budget.pk}/change/").content.decode()
    assert "$0.250000" in page
