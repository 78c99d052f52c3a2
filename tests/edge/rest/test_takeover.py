from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from sessions_app.models import ApiKey, Session, Turn
from tests.fakes.edge import People, Rest

PATHS = ["takeover", "replies"]


@pytest.fixture
def desk(people: People) -> Client:
    """Anna of the staff, who may write."""
    anna = User.objects.create_user("anna@shop", is_staff=True, first_name="Anna")
    may = ["view_session", "change_session"]
    anna.user_permissions.set(Permission.objects.filter(codename__in=may))
    client = Client()
    client.force_login(anna)
    return client


def post(desk: Client, path: str, **body: str):
    return desk.post(path, data=body, content_type="application/json")


def test_staff_takes_over_and_gives_back(desk: Client, people: People) -> None:
    path = f"{people.path}/takeover"
    assert post(desk, path).json()["operator"] == "Anna"
    assert desk.get(people.path).json()["operator"] == "Anna"
    assert desk.delete(path).json()["operator"] is None
    assert desk.delete(path).status_code == 200


def test_reply_takes_over_and_says_who_wrote_it(desk: Client, people: People) -> None:
    answer = post(desk, f"{people.path}/replies", content="Hello", name="The shop")
    assert answer.status_code == 202
    assert Session.objects.get(pk=people.path.split("/")[-1]).operator == "The shop"
    [message] = desk.get(f"{people.path}/messages").json()["data"]
    assert (message["role"], message["operator"]) == ("assistant", "The shop")
    assert message["turnId"] == answer.json()["turnId"]


def test_key_needs_the_scope_and_a_name(rest: Rest, people: People) -> None:
    for path in PATHS:
        assert rest("POST", f"{people.path}/{path}", {"content": "x"}).status == 403
    ApiKey.objects.update(scopes=["sessions", "operator"])
    body = {"content": "x"}
    answer = rest("POST", f"{people.path}/replies", body)
    assert (answer.status, answer.json["error"]["param"]) == (400, "name")
    named = {**body, "name": "Anna"}
    assert rest.triple("POST", f"{people.path}/replies", named) == (202, 404, 401)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": ""},
        {"content": " "},
        {"content": 1},
        {"content": "a\x00b"},
        {"content": "x", "name": "n" * 101},
        {"content": "x", "operator": "Anna"},
    ],
)
def test_bad_reply_is_refused_and_takes_nothing_over(
    rest: Rest, people: People, body
) -> None:
    ApiKey.objects.update(scopes=["sessions", "operator"])
    named = {"name": "Anna", **body}
    assert rest("POST", f"{people.path}/replies", named).status == 400
    assert not Session.objects.exclude(operator="").exists()
    assert not Turn.objects.exists()


def test_closed_session_takes_no_reply(desk: Client, people: People) -> None:
    Session.objects.update(is_closed=True)
    answer = post(desk, f"{people.path}/replies", content="Hello")
    assert answer.json()["error"]["code"] == "session_closed"
