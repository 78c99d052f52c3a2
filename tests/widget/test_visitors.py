from __future__ import annotations

import pytest

from sessions_app.models import Attempt, Session, Turn
from sessions_app.store.db import in_thread
from tests.fakes.edge import Live, People
from tests.fakes.people import SHOP, make_agent, make_embed, visitor_token
from tests.widget.conftest import Visitors

EVIL = "https://evil.example"


@pytest.fixture
def token(visitors: Visitors) -> str:
    return visitors.token()


# C67: the same public key, another visitor
def test_visitors_cannot_reach_each_other(visitors: Visitors, token: str) -> None:
    path = visitors.session(token)
    turn = visitors.call(token, "POST", f"{path}/messages", {"content": "x"}).json
    other = visitors.token()
    calls = [
        ("GET", path),
        ("PATCH", path),
        ("GET", f"{path}/messages"),
        ("POST", f"{path}/messages", {"content": "y"}),
        ("POST", f"{path}/regenerate"),
        ("POST", f"{path}/ticket"),
        ("GET", f"{path}/turns/{turn['turnId']}"),
        ("POST", f"{path}/turns/{turn['turnId']}/cancel"),
        ("POST", f"{path}/turns/{turn['turnId']}/feedback", {"rating": "up"}),
        ("POST", f"{path}/turns/{turn['turnId']}/toolResults", {"results": []}),
        ("POST", f"{path}/turns/{turn['turnId']}/approvals", {"approvals": []}),
        ("GET", f"{path}/transcript"),
        ("GET", f"{path}/attachments/file_x"),
        ("DELETE", path),
    ]
    assert {visitors.call(other, *call).status for call in calls} == {404}
    assert visitors.call(other, "GET", "/v1/sessions").json["data"] == []
    assert Turn.objects.count() == 1


def test_visitor_sees_no_session_of_a_key(visitors: Visitors, people, token) -> None:
    assert visitors.call(token, "GET", people.path).status == 404


def test_token_works_on_its_origins_only(visitors: Visitors, token: str) -> None:
    path = visitors.session(token)
    assert visitors.rest("GET", path, key=token).status == 200
    assert visitors.rest("GET", path, key=token, origin=SHOP).status == 200
    for origin in (EVIL, "null", "http://testserver"):
        answer = visitors.rest("GET", path, key=token, origin=origin)
        assert (answer.status, answer.code) == (403, "forbidden_origin")


def test_token_ends_with_its_embed(visitors: Visitors, embed, token: str) -> None:
    embed.is_enabled = False
    embed.save()
    assert visitors.call(token, "GET", "/v1/sessions").status == 401
    embed.delete()
    assert visitors.call(token, "GET", "/v1/sessions").status == 401


def test_same_visitor_id_of_two_embeds_is_two_visitors(
    visitors: Visitors, embed, people: People
) -> None:
    other = make_embed(people.agent, "pk_other")
    path = visitors.session(visitor_token(embed, "v1"))
    assert visitors.call(visitor_token(other, "v1"), "GET", path).status == 404


# C70 (3), C67: what a page says of user, prompt, agent or id is not believed.
@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("agent", "helper", 403),
        ("systemPrompt", "x", 403),
        ("user", "bob", 403),
        ("model", "gpt-x", 400),
        ("id", "sess_mine", 400),
        ("owner", "key:1", 400),
    ],
)
def test_visitor_may_not_set_this(
    visitors: Visitors, token: str, field: str, value: str, status: int
) -> None:
    answer = visitors.call(token, "POST", "/v1/sessions", {field: value})
    assert (answer.status, answer.json["error"]["param"]) == (status, field)
    assert Session.objects.count() == 1


def test_session_is_of_the_embeds_agent(visitors: Visitors, people: People) -> None:
    make_embed(make_agent("other"), "pk_other")
    token = visitors.token(key="pk_other")
    path = visitors.session(token)
    assert visitors.call(token, "GET", path).json["agent"] == "other"


async def test_stranger_visitor_gets_no_events(live: Live) -> None:
    def make() -> tuple[str, str]:
        embed = make_embed(live.people.agent)
        return visitor_token(embed, "v1"), visitor_token(embed, "v2")

    mine, other = await in_thread(make)
    made = await live.client_of(mine).request("POST", "/v1/sessions", json={})
    url = f"/v1/sessions/{made.json['id']}/events"
    answer = await live.client_of(other).request(
        "GET", url, headers={"last-event-id": "1-1"}
    )
    assert (answer.status, answer.code) == (404, "not_found")
    async with live.client_of(mine).stream(url, headers={"origin": SHOP}) as stream:
        assert stream.status == 200
    refused = await live.client_of(mine).request("GET", url, headers={"origin": EVIL})
    assert refused.status == 403


def test_own_turn_tells_no_provider_and_no_price(
    visitors: Visitors, token: str
) -> None:
    path = visitors.session(token)
    posted = visitors.call(token, "POST", f"{path}/messages", {"content": "x"}).json
    Attempt.objects.create(
        turn_id=posted["turnId"],
        number=1,
        round=1,
        provider="primary",
        model="gpt-x",
        status="failed",
        error_code="provider_auth",
        error_status=401,
        price={"model": "gpt-*", "input": "1", "output": "2", "origin": "host"},
    )
    url = f"{path}/turns/{posted['turnId']}"
    for call in (("GET", url), ("POST", f"{url}/feedback", {"rating": "up"})):
        answer = visitors.call(token, *call)
        assert (answer.json["attempts"], answer.json["rounds"]) == ([], 1)
        assert not {"costUsdAtLeast", "unpricedAttempts"} & set(answer.json["usage"])
        assert "costUsd" in answer.json["usage"]
        for word in ("primary", "gpt-x", "provider_auth"):
            assert word not in str(answer.json)
