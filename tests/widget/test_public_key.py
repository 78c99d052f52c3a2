"""What the public key of a page does not open, and what a visitor cannot send."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client as DjangoClient

from sessions_app.domain import ids
from sessions_app.models import Message, Turn
from sessions_app.store.db import in_thread
from tests.edge.live.conftest import Socket
from tests.edge.live.test_handshake import in_protocol, status_of
from tests.fakes.edge import Live
from tests.fakes.people import SHOP, make_agent, make_embed, visitor_token
from tests.widget.conftest import Visitors

CALLS = [
    ("GET", "/v1/sessions"),
    ("POST", "/v1/sessions"),
    ("DELETE", "/v1/widget/visitor"),
    ("GET", "{path}"),
    ("GET", "{path}/events"),
    ("GET", "{path}/messages"),
    ("POST", "{path}/messages"),
    ("POST", "{path}/ticket"),
    ("POST", "{path}/takeover"),
    ("POST", "{path}/replies"),
]


# C70 (5): it was as unknown as any text, and nobody told what it is.
@pytest.mark.parametrize(("method", "path"), CALLS)
@pytest.mark.parametrize("accept", ["*/*", "text/event-stream"])
async def test_public_key_opens_nothing(
    live: Live, method: str, path: str, accept: str
) -> None:
    await in_thread(make_embed, live.people.agent)
    url = path.format(path=live.path)
    for key in ("pk_shop", "pk_none"):
        client, headers = live.client_of(key), {"origin": SHOP, "accept": accept}
        answer = await client.request(
            method, url, json={"content": "x"}, headers=headers
        )
        assert (answer.status, answer.code) == (403, "not_allowed"), answer.body
        assert "opens nothing" in answer.json["error"]["message"]
    assert await in_thread(Turn.objects.count) == 0
    assert not live.provider.requests


async def test_public_key_opens_no_socket(live: Live) -> None:
    embed = await in_thread(make_embed, live.people.agent)
    offered = ["lantern.v1", in_protocol("pk_shop")]
    assert await status_of(live, protocols=offered, headers={"origin": SHOP}) == 403
    assert await status_of(live, "pk_shop") == 403
    token = visitor_token(embed, "v1")
    assert await status_of(live, token, headers={"origin": SHOP}) == 101


# What a public key leads to is a conversation with the embed's agent, and no more.
@pytest.mark.parametrize("path", ["chat/completions", "messages", "models"])
@pytest.mark.parametrize(
    "header", [{"authorization": "Bearer pk_shop"}, {"x-api-key": "pk_shop"}]
)
def test_public_key_speaks_no_other_dialect(
    client: DjangoClient, path: str, header: dict[str, str]
) -> None:
    body = {"model": "helper", "messages": [{"role": "user", "content": "x"}]}
    answer = client.post(f"/v1/{path}", body, "application/json", headers=header)
    assert answer.status_code == 403
    assert "opens nothing" in answer.json()["error"]["message"]
    answer = client.post(f"/{path}", body, "application/json", headers=header)
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["chat/completions", "completions", "messages"])
async def test_visitor_speaks_no_other_dialect(live: Live, path: str) -> None:
    embed = await in_thread(make_embed, live.people.agent)
    body = {"model": "helper", "messages": [{"role": "user", "content": "x"}]}
    for key in ("pk_shop", visitor_token(embed, "v1")):
        client = live.client_of(key)
        for origin in ({}, {"origin": SHOP}):
            answer = await client.request(
                "POST", f"/v1/{path}", json=body, headers=origin
            )
            assert answer.status in (403, 404)
    assert await in_thread(Turn.objects.count) == 0
    assert not live.provider.requests


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"agent": "other"}, "not_allowed"),
        ({"provider": "primary"}, "bad_request"),
        ({"model": "gpt-x"}, "bad_request"),
        ({"raw": True}, "bad_request"),
        ({"systemPrompt": "x"}, "unknown_field"),
        ({"user": "bob"}, "unknown_field"),
        ({"maxTokens": 100_000}, "unknown_field"),
    ],
)
async def test_socket_takes_no_more_from_a_visitor(
    live: Live, fields: dict[str, Any], code: str
) -> None:
    await in_thread(make_agent, "other")
    embed = await in_thread(make_embed, live.people.agent)
    live.client = live.client_of(visitor_token(embed, "v1"))
    socket = await Socket(live, headers={"origin": SHOP}).open()
    answer = await socket.ask("session.start", prompt="x", **fields)
    await socket.hang_up()
    assert (answer["type"], answer.get("code")) == ("error", code)
    assert await in_thread(Turn.objects.count) == 0
    assert not live.provider.requests


# C66: what stands in a URL stands in logs.
def test_token_in_the_url_is_no_credential(visitors: Visitors) -> None:
    token = visitors.token()
    path = visitors.session(token)
    for name in ("token", "access_token", "key", "api_key", "authorization"):
        answer = visitors.rest("GET", f"{path}?{name}={token}", key=None)
        assert answer.status == 401


@pytest.mark.parametrize("odd", ["1", "0", "-1", "sess_", "%00", "..", "sess_mine"])
def test_ids_of_ones_own_choice_name_nothing(visitors: Visitors, odd: str) -> None:
    token = visitors.token()
    for method, body in (("GET", ()), ("PATCH", ({},)), ("DELETE", ())):
        answer = visitors.call(token, method, f"/v1/sessions/{odd}", *body)
        assert answer.status == 404


# 62^22 is over 2^130.
def test_session_ids_cannot_be_guessed(visitors: Visitors) -> None:
    token = visitors.token()
    names = {visitors.session(token).rpartition("_")[2] for _ in range(5)}
    assert len(names) == 5
    assert {len(name) for name in names} == {ids.LENGTH}
    assert ids.LENGTH >= 22


@pytest.mark.parametrize(
    ("body", "statuses"),
    [
        ({"content": "x" * 1_000_000}, {400, 413}),
        ({"content": "x" * 2_000_000}, {400, 413}),
        ({"content": "x", "role": "system"}, {400}),
        ({"content": "x", "role": "assistant"}, {400}),
        ({"content": "x", "model": "gpt-x"}, {400}),
        ({"content": "x", "max_tokens": 100_000}, {400}),
        ({"content": "x", "system": "x"}, {400}),
        ({"content": "x", "tools": [{"name": "x"}]}, {400}),
        ({"messages": [{"role": "system", "content": "x"}]}, {400}),
    ],
)
async def test_what_a_visitor_may_not_send_costs_no_call(
    live: Live, body: dict[str, Any], statuses: set[int]
) -> None:
    embed = await in_thread(make_embed, live.people.agent)
    client = live.client_of(visitor_token(embed, "v1"))
    made = await client.request("POST", "/v1/sessions", json={})
    url = f"/v1/sessions/{made.json['id']}/messages"
    assert (await client.request("POST", url, json=body)).status in statuses
    assert await in_thread(Message.objects.count) == 0
    assert not live.provider.requests


@pytest.mark.parametrize("kind", ["attach", "prompt", "cancel", "close"])
async def test_socket_of_another_visitor_finds_nothing(live: Live, kind: str) -> None:
    embed = await in_thread(make_embed, live.people.agent)
    mine = live.client_of(visitor_token(embed, "v1"))
    made = (await mine.request("POST", "/v1/sessions", json={})).json["id"]
    live.client = live.client_of(visitor_token(embed, "v2"))
    socket = await Socket(live, headers={"origin": SHOP}).open()
    fields = {"prompt": "x"} if kind == "prompt" else {}
    for session_id in (made, "sess_none"):
        answer = await socket.ask(f"session.{kind}", sessionId=session_id, **fields)
        assert (answer["type"], answer["code"]) == ("error", "not_found")
    await socket.hang_up()
    assert not live.provider.requests
