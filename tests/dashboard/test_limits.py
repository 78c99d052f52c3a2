from __future__ import annotations

import pytest
from django.test import Client

from sessions_app.models import RequestLimit

LIST = "/admin/sessions_app/requestlimit/"
FORM = {"on": "visitor", "requests_per_minute": "5", "is_enabled": "on"}


def test_operator_makes_a_limit(admin_client: Client) -> None:
    assert admin_client.post(f"{LIST}add/", FORM).status_code == 302
    assert RequestLimit.objects.get().requests_per_minute == 5
    assert b"visitor" in admin_client.get(LIST).content


@pytest.mark.parametrize(
    "wrong",
    [
        {"on": "everybody"},
        {"requests_per_minute": ""},
        {"requests_per_minute": "-1"},
        {"on": "address", "concurrent_turns": "1"},
    ],
)
def test_limit_that_cannot_be_is_refused(admin_client: Client, wrong) -> None:
    page = admin_client.post(f"{LIST}add/", {**FORM, **wrong})
    assert page.status_code == 200
    assert not RequestLimit.objects.exists()
