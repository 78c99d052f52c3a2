"""The embed's form: a secret is set, shown as set, kept and removed."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.fakes.edge import People
from tests.fakes.people import make_editor, make_embed
from widget.models import Embed

SECRET = "not to be shown to anybody, whoever asks"


@pytest.fixture
def form(people: People, embed: Embed) -> dict[str, str]:
    return {
        "key": embed.key,
        "agent": str(people.agent.pk),
        "origins": "https://shop.example",
        "identity": "optional",
        "theme": "auto",
        "proof_of_work": "off",
        "is_enabled": "on",
        "title": "x",
    }


def path_of(embed: Embed) -> str:
    return f"/admin/widget/embed/{embed.pk}/change/"


def test_secret_is_set_kept_and_removed(
    admin_client: Client, embed: Embed, form: dict[str, str]
) -> None:
    path = path_of(embed)
    assert b"No secret is set" in admin_client.get(path).content
    assert b"remove_secret" not in admin_client.get(path).content
    steps = [
        ({"secret": SECRET}, SECRET),
        ({"secret": ""}, SECRET),
        ({"secret": SECRET[::-1]}, SECRET[::-1]),
        ({"secret": "", "remove_secret": "on"}, ""),
    ]
    for fields, expected in steps:
        assert admin_client.post(path, {**form, **fields}).status_code == 302
        embed.refresh_from_db()
        assert embed.secret == expected
        page = admin_client.get(path).content.decode()
        assert ("A secret is set" in page) == bool(expected)
        assert not expected or expected not in page


# It was lost with the error, and the embed was then saved without one.
def test_typed_secret_outlasts_an_error_elsewhere(
    admin_client: Client, embed: Embed, form: dict[str, str]
) -> None:
    path = path_of(embed)
    wrong = {"secret": SECRET, "accent": "blueish"}
    page = admin_client.post(path, {**form, **wrong}).content.decode()
    assert f'value="{SECRET}"' in page
    assert 'autocomplete="new-password"' in page
    assert admin_client.post(path, {**form, "secret": SECRET}).status_code == 302
    stored = admin_client.post(path, {**form, "accent": "blueish"}).content.decode()
    assert "A secret is set" in stored and SECRET not in stored


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": "new", "remove_secret": "on"},
        {"identity": "required", "remove_secret": "on"},
        {"identity": "sometimes"},
        {"proof_of_work": "maybe"},
        {"secret": "x" * 31, "tokens_only": "on"},
    ],
)
def test_form_that_makes_no_sense_is_refused(
    admin_client: Client, embed: Embed, form: dict[str, str], wrong: dict[str, str]
) -> None:
    embed.secret = SECRET
    embed.save()
    page = admin_client.post(path_of(embed), {**form, **wrong})
    assert page.status_code == 200
    embed.refresh_from_db()
    assert (embed.secret, embed.identity) == (SECRET, "optional")


def test_new_embed_needs_a_secret_to_require_identity(
    admin_client: Client, people: People, form: dict[str, str]
) -> None:
    form = {**form, "key": "pk_new", "identity": "required"}
    assert admin_client.post("/admin/widget/embed/add/", form).status_code == 200
    form["secret"] = SECRET
    assert admin_client.post("/admin/widget/embed/add/", form).status_code == 302
    assert Embed.objects.get(key="pk_new").is_identity_required
    make_embed(people.agent, "pk_other")


@pytest.fixture
def editor(client: Client, embed: Embed) -> User:
    """Somebody who may do anything to embeds, and nothing else yet."""
    user = make_editor("embed")
    client.force_login(user)
    return user


def test_secret_is_written_by_whoever_may_read_what_it_opens(
    client: Client, editor: Any, embed: Embed, form: dict[str, str]
) -> None:
    path = path_of(embed)
    page = client.post(path, {**form, "secret": SECRET}).content.decode()
    assert "Whoever knows the secret can read" in page
    embed.refresh_from_db()
    assert embed.secret == ""
    rights = Permission.objects.filter(
        content_type__model="session",
        codename__in=[f"{right}_session" for right in ("view", "change", "delete")],
    )
    editor.user_permissions.add(*rights)
    assert client.post(path, {**form, "secret": SECRET}).status_code == 302
    embed.refresh_from_db()
    assert embed.secret == SECRET


def test_known_secret_does_not_move_to_another_key(
    client: Client, editor: Any, embed: Embed, form: dict[str, str]
) -> None:
    path = path_of(embed)
    Embed.objects.filter(pk=embed.pk).update(secret=SECRET)
    moved = {**form, "key": "pk_other"}
    assert client.post(path, moved).status_code == 200
    # All else of such an embed is the editor's.
    assert client.post(path, {**form, "title": "Ask us"}).status_code == 302
    removed = {**form, "title": "Ask us", "remove_secret": "on"}
    assert client.post(path, removed).status_code == 302
    embed.refresh_from_db()
    assert (embed.key, embed.title, embed.secret) == (form["key"], "Ask us", "")
