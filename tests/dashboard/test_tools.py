"""Tools in the dashboard: who may have the server run what."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from django.test import Client

from sessions_app.models import Tool
from tests.fakes.people import make_editor

pytestmark = pytest.mark.django_db

ADD = "/admin/sessions_app/tool/add/"
# A module that nothing else imports, so that it shows whether it was.
UNTOUCHED = "this"
RUNS = [
    ("mcp", {"command": ["true"]}),
    ("python", {"path": f"{UNTOUCHED}:s"}),
]


def form(kind: str, settings: dict[str, Any], **fields: str) -> dict[str, str]:
    written = {
        name: "\n".join(value) if isinstance(value, list) else value
        for name, value in settings.items()
    }
    return {
        **written,
        "name": "helper",
        "kind": kind,
        "is_enabled": "on",
        **fields,
    }


@pytest.fixture
def editor(client: Client) -> Client:
    """Somebody who may do anything to tools, and nothing else."""
    user = make_editor("tool")
    client.force_login(user)
    return client


@pytest.mark.parametrize(("kind", "settings"), RUNS)
def test_editor_may_not_add_what_runs_here(
    editor: Client, kind: str, settings: dict[str, Any]
) -> None:
    sys.modules.pop(UNTOUCHED, None)
    page = editor.post(ADD, form(kind, settings))
    assert "Only a superuser may have the server run" in page.content.decode()
    assert not Tool.objects.exists()
    assert UNTOUCHED not in sys.modules


def test_editor_adds_what_runs_elsewhere(editor: Client) -> None:
    for kind, settings in [
        ("http", {"url": "https://shop.example/stock"}),
        ("mcp", {"url": "https://tools.example/mcp"}),
    ]:
        answer = editor.post(ADD, form(kind, settings, name=kind))
        assert answer.status_code == 302
    assert {tool.kind for tool in Tool.objects.all()} == {"http", "mcp"}


@pytest.mark.parametrize(("kind", "settings"), RUNS)
def test_editor_may_not_change_what_runs_here(
    editor: Client, kind: str, settings: dict[str, Any]
) -> None:
    row = Tool.objects.create(name="own", kind=kind, settings=settings)
    path = f"/admin/sessions_app/tool/{row.pk}/change/"
    assert editor.post(path, form("mcp", {"command": ["false"]})).status_code == 403
    row.refresh_from_db()
    assert (row.kind, row.settings) == (kind, settings)


@pytest.mark.parametrize(("kind", "settings"), RUNS)
def test_editor_may_not_make_a_tool_run_here(
    editor: Client, kind: str, settings: dict[str, Any]
) -> None:
    url = {"url": "https://shop.example/stock"}
    row = Tool.objects.create(name="stock", kind="http", settings=url)
    path = f"/admin/sessions_app/tool/{row.pk}/change/"
    assert editor.post(path, form(kind, settings)).status_code == 200
    row.refresh_from_db()
    assert (row.kind, row.settings) == ("http", url)


def test_superuser_sets_up_what_runs_here(admin_client: Client) -> None:
    made = form("mcp", {"command": ["true"]})
    assert admin_client.post(ADD, made).status_code == 302
    assert Tool.objects.get().settings == {"command": ["true"]}


STOCK = {"url": "https://shop.example/stock/{name}"}


@pytest.mark.parametrize(
    ("kind", "url", "is_kept"),
    [
        ("http", "https://shop.example/v2/{name}", True),
        ("mcp", "https://shop.example/mcp", True),
        ("http", "https://evil.example/stock", False),
        ("mcp", "https://evil.example/mcp", False),
    ],
)
def test_stored_headers_do_not_follow_the_address(
    editor: Client, kind: str, url: str, is_kept: bool
) -> None:
    secret = json.dumps({"Authorization": "Bearer secret"})
    row = Tool.objects.create(name="stock", kind="http", settings=STOCK, headers=secret)
    path = f"/admin/sessions_app/tool/{row.pk}/change/"
    page = editor.post(path, form(kind, {"url": url}))
    assert page.status_code == (302 if is_kept else 200)
    assert is_kept or "write this again" in page.content.decode()
    row.refresh_from_db()
    assert (row.settings == {"url": url}, row.headers) == (is_kept, secret)
    own = form(kind, {"url": url}, headers="X-Own: 1")
    assert editor.post(path, own).status_code == 302


def test_editor_may_not_open_private_addresses(editor: Client) -> None:
    inside = {"url": "http://169.254.169.254/latest"}
    page = editor.post(ADD, form("http", inside, allow_private="on"))
    assert "Only a superuser may open private" in page.content.decode()
    assert not Tool.objects.exists()


def test_headers_are_lines_and_stay_hidden(editor: Client) -> None:
    lines = "Authorization: Bearer s3cret:x\r\n\r\n X-Shop :\t7"
    url = {"url": "https://shop.example/stock"}
    assert editor.post(ADD, form("http", url, headers=lines)).status_code == 302
    row = Tool.objects.get()
    expected = {"Authorization": "Bearer s3cret:x", "X-Shop": "7"}
    assert json.loads(row.headers) == expected
    path = f"/admin/sessions_app/tool/{row.pk}/change/"
    assert "s3cret" not in editor.get(path).content.decode()
    assert editor.post(path, form("http", url)).status_code == 302
    row.refresh_from_db()
    assert json.loads(row.headers) == expected


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("X-A: 1\nBearer s3cret", "Line 2: write a name, a colon and a value"),
        ("X A: s3cret", "Line 1: the header &#x27;X A&#x27; cannot be sent"),
        ("X-A: s3cret\u20ac", "Line 1: the header"),
        ("X-A: s3cret\nx-a: 2", "is twice"),
    ],
)
def test_wrong_headers_are_named_and_kept(
    editor: Client, lines: str, words: str
) -> None:
    url = {"url": "https://shop.example/stock"}
    answer = editor.post(ADD, form("http", url, headers=lines))
    shown = answer.context["adminform"].form
    assert words in answer.content.decode()
    assert "s3cret" not in str(shown.errors)
    assert shown["headers"].value() == lines
    assert not Tool.objects.exists()
