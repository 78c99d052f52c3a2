"""A visitor has all of their chats deleted."""

from __future__ import annotations

import asyncio

from django.db.models import Q

from sessions_app.erasure import delete_all, of_person
from sessions_app.models import Message, Session
from sessions_app.store.db import in_thread
from tests.fakes.edge import Live, People
from tests.fakes.people import ALICE_KEY, SHOP, make_embed, make_session, visitor_token
from tests.fakes.scripted_provider import says
from tests.widget.conftest import Visitors
from widget.identity import visitor_of_user

VISITOR = "/v1/widget/visitor"


def test_all_chats_of_the_visitor_go(visitors: Visitors, people: People) -> None:
    mine, other = visitors.token(), visitors.token()
    paths = [visitors.session(mine) for _ in range(3)]
    for path in paths:
        visitors.call(mine, "POST", f"{path}/messages", {"content": "my secret"})
    kept = visitors.session(other)
    answer = visitors.call(mine, "DELETE", VISITOR)
    assert (answer.status, answer.body) == (204, b"")
    assert not Session.objects.filter(
        owner__contains=":pk_shop:", pk__in=[path.rpartition("/")[2] for path in paths]
    ).exists()
    assert not Message.objects.filter(content__contains="secret").exists()
    assert visitors.call(other, "GET", kept).status == 200
    assert visitors.rest("GET", people.path).status == 200
    assert visitors.bootstrap(visitor=mine).json["session"] is None


def test_visitor_without_chats_may_ask_too(visitors: Visitors) -> None:
    assert visitors.call(visitors.token(), "DELETE", VISITOR).status == 204


def test_only_visitors_on_their_origin_may_ask(visitors: Visitors) -> None:
    token = visitors.token()
    path = visitors.session(token)
    rest = visitors.rest
    evil = rest("DELETE", VISITOR, key=token, origin="https://evil.example")
    assert (evil.status, evil.code) == (403, "forbidden_origin")
    assert rest("DELETE", VISITOR, key=None).status == 401
    assert rest("DELETE", VISITOR, key=ALICE_KEY).status == 403
    assert rest("GET", VISITOR, key=token).status == 405
    assert rest("DELETE", f"{VISITOR}?all=1", key=token).status == 400
    assert rest("GET", path, key=token).status == 200


async def test_answer_under_way_ends_first(live: Live) -> None:
    release = asyncio.Event()
    provider = live.plays([*says("Hel")[:1], release])
    token = await in_thread(lambda: visitor_token(make_embed(live.people.agent), "v1"))
    client = live.client_of(token)
    made = await client.request("POST", "/v1/sessions", json={})
    path = f"/v1/sessions/{made.json['id']}"
    async with client.stream(f"{path}/events?after=0-0") as stream:
        await client.request("POST", f"{path}/messages", json={"content": "x"})
        await stream.events("message_delta")
        answer = await client.request("DELETE", VISITOR, headers={"origin": SHOP})
        assert answer.status == 204
        assert answer.header("access-control-allow-origin") == SHOP
        names = [frame.name for frame in await stream.events()]
    assert "message_completed" in names
    assert provider.was_closed == 1
    gone = await client.request("GET", f"{path}/events")
    assert gone.status == 401


async def test_sites_may_ask_for_it(live: Live) -> None:
    await in_thread(make_embed, live.people.agent)
    asks = {"origin": SHOP, "access-control-request-method": "DELETE"}
    answer = await live.client_of(None).request("OPTIONS", VISITOR, headers=asks)
    assert answer.status == 204
    assert "DELETE" in (answer.header("access-control-allow-methods") or "")


def test_user_is_found_under_all_names(visitors: Visitors, people: People) -> None:
    known = f"visitor:pk_shop:{visitor_of_user('alice@shop.example')}"
    theirs = make_session(people.agent, known)
    told = make_session(people.agent, "key:7", user="alice@shop.example")
    other = make_session(people.agent, "key:7", user="bob")
    whose = of_person("alice@shop.example")
    assert whose is not None and delete_all(whose) == 2
    left = set(Session.objects.values_list("pk", flat=True))
    assert not left & {theirs.pk, told.pk}
    assert other.pk in left
    assert of_person("alice@shop.example") is None


def test_session_leads_to_its_person(people: People) -> None:
    agent = people.agent
    one = make_session(agent, "visitor:pk_shop:v1")
    make_session(agent, "visitor:pk_shop:v1")
    make_session(agent, "visitor:pk_shop:v2")
    bob = make_session(agent, "key:7", user="bob")
    make_session(agent, "key:7")
    assert delete_all(of_person(one.pk) or Q()) == 2
    assert delete_all(of_person(bob.pk) or Q()) == 1
    assert delete_all(of_person(people.session.pk) or Q()) == 1
    assert Session.objects.count() == 2
