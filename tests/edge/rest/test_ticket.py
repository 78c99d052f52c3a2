from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import Permission, User
from django.core import signing

from sessions_app.domain.errors import ForbiddenOrigin, Unauthorized
from sessions_app.edge import auth
from sessions_app.store.db import in_thread
from tests.fakes.edge import Live, People, Rest
from tests.fakes.people import SHOP, make_embed, make_session
from widget.tokens import visitor_by_name, visitor_principal


def ticket_of(rest: Rest, path: str) -> str:
    return str(rest("POST", f"{path}/ticket", {}).json["ticket"])


def test_only_its_owner_gets_a_ticket(rest: Rest, people: People) -> None:
    assert rest.triple("POST", f"{people.path}/ticket", {}) == (201, 404, 401)


def test_ticket_says_how_long_it_lives(rest: Rest, people: People) -> None:
    shown = rest("POST", f"{people.path}/ticket").json
    assert shown["ticket"].startswith("lt_")
    assert shown["expiresInS"] == 60
    assert "lk_" not in shown["ticket"]


@pytest.mark.parametrize("body", [{"x": 1}, [], {"ttl": 1000}])
def test_bad_body_is_refused(rest: Rest, people: People, body) -> None:
    assert rest("POST", f"{people.path}/ticket", body).status == 400


def test_ticket_opens_its_own_session_only(rest: Rest, people: People) -> None:
    ticket = ticket_of(rest, people.path)
    principal = auth.principal_of_ticket(ticket, people.session.pk, None)
    assert principal.caller.name == people.session.owner
    other = make_session(people.agent, people.session.owner)
    with pytest.raises(Unauthorized):
        auth.principal_of_ticket(ticket, other.pk, None)


def test_ticket_ends_after_a_minute(rest: Rest, people: People, monkeypatch) -> None:
    ticket = ticket_of(rest, people.path)
    now = time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + 61)
    with pytest.raises(Unauthorized):
        auth.principal_of_ticket(ticket, people.session.pk, None)


# C66: the rights of now count, not those of then.
def test_ticket_dies_with_its_key(rest: Rest, people: People) -> None:
    ticket = ticket_of(rest, people.path)
    people.alice.is_enabled = False
    people.alice.save()
    with pytest.raises(Unauthorized):
        auth.principal_of_ticket(ticket, people.session.pk, None)
    people.alice.delete()
    with pytest.raises(Unauthorized):
        auth.principal_of_ticket(ticket, people.session.pk, None)


def test_ticket_dies_with_the_staffs_rights(people: People) -> None:
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_session"))
    user = User.objects.get(pk=user.pk)
    ticket = auth.issue_ticket(auth.principal_of_user(user), people.session.pk)
    auth.principal_of_ticket(ticket, people.session.pk, None)
    User.objects.update(is_staff=False)
    with pytest.raises(Unauthorized):
        auth.principal_of_ticket(ticket, people.session.pk, None)


def test_visitors_ticket_is_for_its_embeds_origins(people: People) -> None:
    make_embed(people.agent)
    visitor = visitor_by_name("visitor:pk_shop:v1", None)
    ticket = auth.issue_ticket(visitor, people.session.pk)
    auth.principal_of_ticket(ticket, people.session.pk, SHOP)
    with pytest.raises(ForbiddenOrigin):
        auth.principal_of_ticket(ticket, people.session.pk, "https://evil.example")


GARBAGE = ["", "lt_", "lt_x", "lt_a:b:c", "lk_alice", "lt_" + "x" * 5000, "lt_\x00ÿ"]


@pytest.mark.parametrize("ticket", GARBAGE)
def test_garbage_is_no_ticket(db: None, ticket: str) -> None:
    with pytest.raises(Unauthorized):
        auth.principal_of_ticket(ticket, "sess_x", None)


def test_tickets_and_visitor_tokens_are_no_substitutes(people: People) -> None:
    make_embed(people.agent)
    ticket = auth.issue_ticket(visitor_by_name("visitor:pk_shop:v1", None), "sess_x")
    with pytest.raises(Unauthorized):
        visitor_principal("lv_" + ticket.removeprefix("lt_"), None)
    with pytest.raises(Unauthorized):
        auth.principal_of_token(ticket, None)


async def test_ticket_opens_the_stream_again_and_again(live: Live) -> None:
    answer = await live.client.request("POST", f"{live.path}/ticket", json={})
    url = f"{live.path}/events?ticket={answer.json['ticket']}"
    nobody = live.client_of(None)
    for _ in range(2):
        async with nobody.stream(url) as stream:
            assert (stream.status, (await stream.frame()).comment) == (200, "open")
    other = await in_thread(make_session, live.people.agent, live.people.session.owner)
    refused = await nobody.request(
        "GET", f"/v1/sessions/{other.pk}/events?ticket={answer.json['ticket']}"
    )
    assert refused.status == 401
