from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from sessions_app.models import Session, Turn
from tests.fakes.people import make_agent, make_session

LIST = "/admin/sessions_app/session/"
ERASE = f"{LIST}erase/"


@pytest.fixture
def chats(db: None) -> list[Session]:
    agent = make_agent()
    return [make_session(agent, "key:1", user=user) for user in ("bob", "bob", "eve")]


def test_all_of_a_user_go_in_two_steps(
    admin_client: Client, chats: list[Session]
) -> None:
    assert ERASE in admin_client.get(LIST).content.decode()
    assert admin_client.get(ERASE).status_code == 200
    asked = admin_client.post(ERASE, {"person": "bob"}).content.decode()
    assert "2 conversations" in asked
    assert Session.objects.count() == 3
    done = admin_client.post(ERASE, {"person": "bob", "is_sure": "on"}, follow=True)
    assert "Deleted: 2 conversations." in done.content.decode()
    assert [each.user for each in Session.objects.all()] == ["eve"]


@pytest.mark.parametrize("person", ["mallory", "", "a\x00b", "sess_unknown", "x" * 300])
def test_unknown_user_is_said_to_be(
    admin_client: Client, chats: list[Session], person: str
) -> None:
    answer = admin_client.post(ERASE, {"person": person, "is_sure": "on"})
    assert answer.status_code == 200
    assert "errorlist" in answer.content.decode()
    assert Session.objects.count() == 3


def test_who_may_not_delete_may_not_erase(client: Client, chats: list[Session]) -> None:
    user = User.objects.create_user("olga", password="x", is_staff=True)
    may_view = Permission.objects.get(
        codename="view_session", content_type__app_label="sessions_app"
    )
    user.user_permissions.add(may_view)
    client.force_login(user)
    assert ERASE not in client.get(LIST).content.decode()
    assert client.post(ERASE, {"person": "bob", "is_sure": "on"}).status_code == 403
    assert Session.objects.count() == 3


def test_chosen_conversations_are_deleted_whole(
    admin_client: Client, chats: list[Session]
) -> None:
    Turn.objects.create(session=chats[0], ordinal=1, state="completed")
    chosen = [chats[0].pk, chats[2].pk]
    form = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    admin_client.post(LIST, form)
    assert list(Session.objects.all()) == [chats[1]]
    admin_client.post(f"{LIST}{chats[1].pk}/delete/", {"post": "yes"})
    assert not Session.objects.exists()
