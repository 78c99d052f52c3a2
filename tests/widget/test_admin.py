"""The embed's form: a secret is set, shown as set, kept and removed."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.fakes.edge import People
from tests.fakes.people import make_embed
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


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": "new", "remove_secret": "on"},
        {"identity": "required", "remove_secret": "on"},
        {"identity": "sometimes"},
        {"proof_of_work": "maybe"},
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
