"""Keys in the dashboard: nobody makes one that may do more than they may."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from sessions_app.models import Agent, ApiKey
from tests.fakes.people import make_agent, make_editor, make_key

pytestmark = pytest.mark.django_db

ADD = "/admin/sessions_app/apikey/add/"
OWN = ["sessions", "completions"]
ALL = [*OWN, "sessions.all"]
OPERATOR = [*OWN, "operator"]


class Editor:
    """Somebody who may do anything to keys, and to sessions what a test gives."""

    def __init__(self, client: Client, user: Any) -> None:
        self.client = client
        self.user = user

    def may(self, *rights: str) -> None:
        names = [f"{right}_session" for right in rights]
        self.user.user_permissions.add(*Permission.objects.filter(codename__in=names))

    def saves(
        self, key: ApiKey | None, scopes: list[str], agents: str = "*", **more: str
    ) -> bool:
        fields = {"name": "till", "agents": agents, "scopes": scopes, **more}
        path = f"/admin/sessions_app/apikey/{key.pk}/change/" if key else ADD
        page = self.client.post(path, {"is_enabled": "on", **fields})
        assert page.status_code in (200, 302)
        if page.status_code == 200:
            assert b"takes these permissions for sessions" in page.content
        return page.status_code == 302


@pytest.fixture
def agent(db: None) -> Agent:
    return make_agent()


@pytest.fixture
def editor(client: Client, agent: Agent) -> Editor:
    user = make_editor("apikey")
    client.force_login(user)
    return Editor(client, user)


@pytest.mark.parametrize(
    ("rights", "scopes", "is_allowed"),
    [
        ((), OWN, True),
        ((), ALL, False),
        ((), OPERATOR, False),
        (("view",), OPERATOR, False),
        (("view", "change"), OPERATOR, True),
        (("view", "change"), ALL, False),
        (("view", "change", "delete"), [*ALL, "operator"], True),
    ],
)
def test_new_key_may_do_what_its_maker_may(
    editor: Editor, rights: tuple[str, ...], scopes: list[str], is_allowed: bool
) -> None:
    editor.may(*rights)
    assert editor.saves(None, scopes) == is_allowed
    assert ApiKey.objects.exists() == is_allowed


def test_key_is_not_widened(editor: Editor, agent: Agent) -> None:
    """Whoever knows a key could have it do more than they may."""
    narrow = make_key("lk_a", scopes=OWN)
    assert not editor.saves(narrow, ALL)
    of_one = make_key("lk_b", scopes=ALL, agents=[agent.slug])
    assert not editor.saves(of_one, ALL, "*")
    disabled = make_key("lk_c", scopes=ALL)
    ApiKey.objects.filter(pk=disabled.pk).update(is_enabled=False)
    assert not editor.saves(disabled, ALL)
    malformed = make_key("lk_d", scopes=[*ALL, 5])
    assert not editor.saves(malformed, ALL)


def test_key_is_narrowed_and_renamed(editor: Editor, agent: Agent) -> None:
    key = make_key("lk_a", scopes=[*ALL, "operator"])
    assert editor.saves(key, [*ALL, "operator"])
    assert editor.saves(key, ALL)
    assert editor.saves(key, ALL, agent.slug)
    assert editor.saves(key, ALL, agent.slug, is_enabled="")
    key.refresh_from_db()
    assert (key.name, key.scopes, key.agents) == ("till", ALL, [agent.slug])
    assert not key.is_enabled
