from __future__ import annotations

import pytest
from django.test import Client

from sessions_app.models import Budget, RequestLimit
from tests.fakes.people import make_agent, make_embed, make_key

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


BUDGET = "/admin/sessions_app/budget/add/"


# It was a text field, and a name with a slip in it was a limit on nothing.
@pytest.mark.parametrize("add", [f"{LIST}add/", BUDGET])
def test_targets_are_chosen_from_what_there_is(admin_client: Client, add: str) -> None:
    agent = make_agent()
    embed, name = make_embed(agent), make_key("ci").name
    page = admin_client.get(add).content.decode()
    for on in ("visitor", f"agent:{agent.slug}", f"embed:{embed.key}", f"key:{name}"):
        assert f'<option value="{on}">' in page
    wrong = {**FORM, "on": "agent:no-such", "period": "day", "usd": "1"}
    inline = {"ledgers-TOTAL_FORMS": "0", "ledgers-INITIAL_FORMS": "0"}
    said = admin_client.post(add, {**wrong, **inline}).content.decode()
    assert "agent:no-such is not one of the available choices" in said
    assert "must be key:NAME" not in said
    assert not RequestLimit.objects.exists() and not Budget.objects.exists()


def test_limit_on_what_is_gone_can_still_be_changed(admin_client: Client) -> None:
    row = RequestLimit.objects.create(on="key:gone", requests_per_minute=5)
    path = f"{LIST}{row.pk}/change/"
    page = admin_client.get(path).content.decode()
    assert 'label="Not there any more"' in page
    fields = {**FORM, "on": "key:gone", "requests_per_minute": "6"}
    assert admin_client.post(path, fields).status_code == 302
    row.refresh_from_db()
    assert row.requests_per_minute == 6


def test_turns_by_address_are_refused_at_their_field(admin_client: Client) -> None:
    wrong = {**FORM, "on": "address", "concurrent_turns": "1"}
    answer = admin_client.post(f"{LIST}add/", wrong)
    form = answer.context["adminform"].form
    assert list(form.errors) == ["concurrent_turns"]
