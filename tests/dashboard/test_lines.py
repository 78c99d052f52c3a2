"""Lists of texts in the dashboard's forms are lines, not JSON."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from sessions_app.models import Agent, ApiKey, Provider
from tests.fakes.people import make_agent, make_embed, make_key


@pytest.fixture
def agent(db: None) -> Agent:
    Provider.objects.create(name="backup", kind="demo")
    return make_agent()


def embed_fields(agent: Agent, origins: str) -> dict[str, Any]:
    choices = {"identity": "optional", "theme": "auto", "proof_of_work": "off"}
    return {"key": "pk_shop", "agent": agent.pk, "origins": origins, **choices}


def test_origins_are_lines(admin_client: Client, agent: Agent) -> None:
    embed = make_embed(agent, origins=["https://a.example", "https://b.example"])
    path = f"/admin/widget/embed/{embed.pk}/change/"
    page = admin_client.get(path).content.decode()
    assert "https://a.example\nhttps://b.example</textarea>" in page
    lines = "https://*.a.example\r\n\r\n  https://c.example "
    assert admin_client.post(path, embed_fields(agent, lines)).status_code == 302
    embed.refresh_from_db()
    assert embed.origins == ["https://*.a.example", "https://c.example"]


def test_wrong_lines_are_named_and_kept(admin_client: Client, agent: Agent) -> None:
    embed = make_embed(agent)
    path = f"/admin/widget/embed/{embed.pk}/change/"
    lines = "https://a.example\n\nshop.example\nhttps://b.example:443"
    page = admin_client.post(path, embed_fields(agent, lines)).content.decode()
    assert "Line 3: " in page and "Line 4: " in page and "Line 1" not in page
    assert "shop.example\nhttps://b.example:443</textarea>" in page
    embed.refresh_from_db()
    assert embed.origins == ["https://shop.example"]


def test_route_and_tools_are_lines(admin_client: Client, agent: Agent) -> None:
    path = f"/admin/sessions_app/agent/{agent.pk}/change/"
    fields = {"slug": agent.slug, "is_enabled": "on", "tools": "no_such_tool"}
    wrong = {**fields, "route": "gpt-x\nnobody/gpt-x\nbackup/gpt-x"}
    page = admin_client.post(path, wrong).content.decode()
    assert "Line 1: &#x27;gpt-x&#x27; is not of the form" in page
    assert "Line 2: there is no provider" in page
    assert "Line 1: there is no tool" in page
    right = {**fields, "route": "backup/a\nbackup/b", "tools": ""}
    assert admin_client.post(path, right).status_code == 302
    agent.refresh_from_db()
    assert (agent.route, agent.tools) == (["backup/a", "backup/b"], [])


def test_scopes_are_ticked(admin_client: Client, agent: Agent) -> None:
    key = make_key("lk_x")
    path = f"/admin/sessions_app/apikey/{key.pk}/change/"
    page = admin_client.get(path).content.decode()
    assert page.count('type="checkbox" name="scopes"') == 4
    fields = {"name": "x", "agents": agent.slug, "scopes": ["sessions"]}
    assert admin_client.post(path, fields).status_code == 302
    key.refresh_from_db()
    assert (key.agents, key.scopes) == ([agent.slug], ["sessions"])
    wrong = {**fields, "agents": "nobody"}
    assert b"there is no agent" in admin_client.post(path, wrong).content
    assert ApiKey.objects.get().agents == [agent.slug]


def test_malformed_rows_are_mended(admin_client: Client, agent: Agent) -> None:
    Agent.objects.update(route=5, tools={"a": 1})
    path = f"/admin/sessions_app/agent/{agent.pk}/change/"
    assert admin_client.get(path).status_code == 200
    fields = {"slug": agent.slug, "is_enabled": "on", "route": "backup/a", "tools": ""}
    assert admin_client.post(path, fields).status_code == 302
    key = make_key("lk_x", agents=5, scopes=5)
    path = f"/admin/sessions_app/apikey/{key.pk}/change/"
    assert admin_client.get(path).status_code == 200
    fields = {"name": "x", "agents": agent.slug, "scopes": "sessions"}
    assert admin_client.post(path, fields).status_code == 302


def test_nul_in_a_line_is_refused(admin_client: Client, agent: Agent) -> None:
    path = f"/admin/sessions_app/agent/{agent.pk}/change/"
    fields = {
        "slug": agent.slug,
        "route": "backup/a\0",
        "tools": "",
        "is_enabled": "on",
    }
    page = admin_client.post(path, fields).content.decode()
    assert "Null characters are not allowed." in page
