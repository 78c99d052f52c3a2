from __future__ import annotations

import pytest
from django.test import Client

from lantern_site.doctor.inside import check_commands
from sessions_app.models import Provider
from tests.fakes.people import make_editor

pytestmark = pytest.mark.django_db

ADD = "/admin/sessions_app/provider/add/"
FORM = {
    "name": "own",
    "kind": "exec",
    "command": "true\r\n--fast",
    "output": "text",
    "text_path": "",
    "base_url": "",
    "api_key": "",
    "is_enabled": "on",
    "connect_timeout_s": "5",
    "first_content_timeout_s": "30",
    "idle_timeout_s": "30",
    "prices-TOTAL_FORMS": "0",
    "prices-INITIAL_FORMS": "0",
}


@pytest.fixture
def editor(client: Client) -> Client:
    """Somebody who may do anything to providers, and nothing else."""
    user = make_editor("provider")
    client.force_login(user)
    return client


def test_superuser_sets_up_a_command(admin_client: Client) -> None:
    assert admin_client.post(ADD, FORM).status_code == 302
    row = Provider.objects.get()
    assert (row.kind, row.command) == ("exec", ["true", "--fast"])


# An argument may hold what a line cannot: the form must give back what it was given.
def test_form_keeps_arguments_as_they_are(admin_client: Client) -> None:
    command = [
        "true",
        "",
        " two words ",
        "a\nb",
        '"quoted"',
        "plain word",
        "C:\\x",
        "ä",
    ]
    row = Provider.objects.create(name="own", kind="exec", command=command)
    path = f"/admin/sessions_app/provider/{row.pk}/change/"
    form = admin_client.get(path).context["adminform"].form
    shown = form["command"].value()
    assert shown.splitlines()[5:7] == ["plain word", "C:\\x"]
    assert admin_client.post(path, {**FORM, "command": shown}).status_code == 302
    row.refresh_from_db()
    assert row.command == command


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"command": ""}, "a program, then its arguments"),
        ({"command": "true --fast"}, "not here or not executable"),
        ({"command": 'true\n"--fast'}, "Line 2: what begins with a double quote"),
        ({"command": "no-such-program"}, "not here or not executable"),
        ({"output": "jsonl"}, "must lead to the text in each line"),
        ({"kind": "openai"}, "only for the kind exec"),
        ({"kind": "pigeon"}, "Select a valid choice"),
    ],
)
def test_command_that_cannot_run_is_refused(
    admin_client: Client, change: dict[str, str], words: str
) -> None:
    page = admin_client.post(ADD, {**FORM, **change})
    assert page.status_code == 200
    assert words in page.content.decode()
    assert not Provider.objects.exists()


LOCAL = {**FORM, "kind": "openai", "service": "ollama", "command": ""}


def test_service_fills_in_its_address(admin_client: Client) -> None:
    assert admin_client.post(ADD, LOCAL).status_code == 302
    row = Provider.objects.get()
    assert (row.service, row.base_url) == ("ollama", "http://127.0.0.1:11434/v1")
    assert row.allow_private


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"service": "olama"}, "Select a valid choice"),
        ({"service": "groq"}, "This service needs one."),
        ({"service": "azure", "api_key": "k"}, "RESOURCE.openai.azure.com"),
        ({"kind": "anthropic"}, "This service is of the kind openai"),
        ({"service": ""}, "The kind openai needs an address"),
        ({"base_url": "127.0.0.1/v1"}, "must be an address such as"),
    ],
)
def test_service_that_cannot_be_is_refused(
    admin_client: Client, change: dict[str, str], words: str
) -> None:
    page = admin_client.post(ADD, {**LOCAL, **change})
    assert page.status_code == 200
    assert words in page.content.decode()
    assert not Provider.objects.exists()


def test_doctor_names_a_program_that_went_missing() -> None:
    Provider.objects.create(name="here", kind="exec", command=["true"])
    Provider.objects.create(name="off", kind="exec", is_enabled=False)
    Provider.objects.create(name="gone", kind="exec", command=["no-such-program"])
    (found,) = check_commands()
    assert (found.check, found.status) == ("provider gone", "failed")
    assert "'no-such-program'" in found.text


# A command runs as the server's user: that is more than to edit a provider.
def test_editor_may_not_add_a_command(editor: Client) -> None:
    page = editor.post(ADD, FORM)
    assert "Only a superuser may have the server run commands" in page.content.decode()
    assert not Provider.objects.exists()
    plain = {**FORM, "kind": "demo", "command": ""}
    assert editor.post(ADD, plain).status_code == 302


def test_editor_may_not_change_a_command(editor: Client) -> None:
    row = Provider.objects.create(name="own", kind="exec", command=["true"])
    path = f"/admin/sessions_app/provider/{row.pk}/change/"
    other = {**FORM, "command": "false"}
    assert editor.post(path, other).status_code == 403
    demo = Provider.objects.create(name="demo", kind="demo")
    path = f"/admin/sessions_app/provider/{demo.pk}/change/"
    assert editor.post(path, FORM).status_code == 200
    assert {each.kind for each in Provider.objects.all()} == {"exec", "demo"}
    assert Provider.objects.get(name="own").command == ["true"]


KEPT = {
    "name": "own",
    "kind": "openai",
    "command": "",
    "service": "",
    "base_url": "https://models.example/v1",
}


@pytest.mark.parametrize(
    ("base_url", "is_kept"),
    [
        ("https://models.example/v2", True),
        ("https://models.example.evil.example/v1", False),
        ("https://models.example:8443/v1", False),
        ("http://models.example/v1", False),
        ("https://evil.example/v1", False),
    ],
)
def test_stored_key_does_not_follow_the_address(
    admin_client: Client, base_url: str, is_kept: bool
) -> None:
    row = Provider.objects.create(name="own", base_url=KEPT["base_url"], api_key="sk-1")
    path = f"/admin/sessions_app/provider/{row.pk}/change/"
    moved = {**FORM, **KEPT, "base_url": base_url}
    page = admin_client.post(path, moved)
    assert page.status_code == (302 if is_kept else 200)
    assert is_kept or "write this again" in page.content.decode()
    row.refresh_from_db()
    assert (row.base_url == base_url, row.api_key) == (is_kept, "sk-1")
    # Whoever has a key for the new address may write it.
    assert admin_client.post(path, {**moved, "api_key": "sk-2"}).status_code == 302
    row.refresh_from_db()
    assert (row.base_url, row.api_key) == (base_url, "sk-2")


def test_editor_may_not_open_private_addresses(editor: Client) -> None:
    for change in ({"allow_private": "on"}, {"base_url": "", "service": "ollama"}):
        page = editor.post(ADD, {**FORM, **KEPT, **change})
        assert "Only a superuser may open private" in page.content.decode()
    assert not Provider.objects.exists()
    local = Provider.objects.create(
        name="own", base_url="http://127.0.0.1:11434/v1", allow_private=True
    )
    path = f"/admin/sessions_app/provider/{local.pk}/change/"
    same = {**FORM, **KEPT, "base_url": local.base_url, "allow_private": "on"}
    other = {**same, "base_url": "http://127.0.0.1:6379/v1"}
    assert editor.post(path, other).status_code == 200
    assert editor.post(path, {**same, "context_tokens": "4096"}).status_code == 302
    local.refresh_from_db()
    assert (local.base_url, local.context_tokens) == (same["base_url"], 4096)


# The key was lost with the error, and the provider was then saved without one.
def test_typed_key_outlasts_an_error_and_a_stored_one_is_not_shown(
    admin_client: Client,
) -> None:
    url = "https://api.example.com/v1"
    given = {**FORM, "kind": "openai", "command": "", "api_key": "sk-typed"}
    page = admin_client.post(ADD, given).content.decode()
    assert "needs an address" in page and 'value="sk-typed"' in page
    assert admin_client.post(ADD, {**given, "base_url": url}).status_code == 302
    row = Provider.objects.get()
    assert row.api_key == "sk-typed"
    path = f"/admin/sessions_app/provider/{row.pk}/change/"
    assert "sk-typed" not in admin_client.get(path).content.decode()
    kept = {**given, "base_url": url, "api_key": "", "idle_timeout_s": "no"}
    assert "sk-typed" not in admin_client.post(path, kept).content.decode()
    assert admin_client.post(path, {**kept, "idle_timeout_s": "9"}).status_code == 302
    row.refresh_from_db()
    assert row.api_key == "sk-typed"
