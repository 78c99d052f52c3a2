from __future__ import annotations

import pytest

from sessions_app.store.db import in_thread
from tests.fakes.asgi import Answer
from tests.fakes.edge import Live
from tests.fakes.people import SHOP, make_embed, visitor_token

EVIL = "https://evil.example"


@pytest.fixture
async def shop(live: Live) -> Live:
    """An installation with a widget on the shop's site."""
    await in_thread(make_embed, live.people.agent)
    return live


async def preflight(live: Live, path: str, asked: str, origin: str = SHOP) -> Answer:
    headers = {
        "origin": origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": asked,
    }
    return await live.client_of(None).request("OPTIONS", path, headers=headers)


def allowed(answer: Answer) -> str | None:
    return answer.header("access-control-allow-origin")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("messages", "authorization,content-type,idempotency-key"),
        ("events", "authorization,last-event-id"),
        ("turns/tur_x/cancel", "authorization"),
    ],
)
async def test_preflight_needs_no_credential(shop: Live, name: str, asked: str) -> None:
    answer = await preflight(shop, f"{shop.path}/{name}", asked)
    listed = answer.header("access-control-allow-headers")
    assert answer.status == 204
    assert allowed(answer) == SHOP
    assert set(asked.split(",")) <= {name.strip() for name in listed.split(",")}
    assert "DELETE" in answer.header("access-control-allow-methods")


async def test_preflight_of_a_stranger_is_refused(shop: Live) -> None:
    for origin in (EVIL, "null", "https://shop.example.evil.example"):
        answer = await preflight(shop, "/v1/sessions", "authorization", origin)
        assert answer.status == 403
        assert allowed(answer) is None


# The console of the site's owner blamed CORS for an origin that was not on the list.
async def test_stranger_reads_why_it_is_refused(shop: Live) -> None:
    nobody, headers = shop.client_of(None), {"origin": EVIL}
    bootstrap, config = "/v1/widget/bootstrap", "/v1/widget/config?key=pk_shop"
    for method, url in (("POST", bootstrap), ("GET", config)):
        body = {"key": "pk_shop"}
        answer = await nobody.request(method, url, json=body, headers=headers)
        assert (answer.status, answer.code) == (403, "forbidden_origin")
        assert allowed(answer) == EVIL
        assert answer.header("access-control-allow-credentials") is None


async def test_errors_carry_the_headers_too(shop: Live) -> None:
    nobody, headers = shop.client_of(None), {"origin": SHOP}
    for method, path in (
        ("GET", "/v1/sessions"),
        ("GET", f"{shop.path}/events"),
        ("POST", f"{shop.path}/messages"),
        ("GET", "/v1/nothing"),
        ("PUT", "/v1/sessions"),
        ("POST", "/v1/widget/bootstrap"),
    ):
        answer = await nobody.request(method, path, headers=headers)
        assert answer.status >= 400
        assert allowed(answer) == SHOP
        exposed = answer.header("access-control-expose-headers")
        assert "retry-after" in exposed


async def test_refusal_for_haste_carries_the_headers(shop: Live, settings) -> None:
    settings.LANTERN = {"address_bootstraps_per_minute": 1}
    body, headers = {"key": "pk_shop"}, {"origin": SHOP}
    url = "/v1/widget/bootstrap"
    for status in (200, 429):
        answer = await shop.client_of(None).request(
            "POST", url, json=body, headers=headers
        )
        assert (answer.status, allowed(answer)) == (status, SHOP)
    assert int(answer.header("retry-after")) > 0
    assert "retry-after" in answer.header("access-control-expose-headers")


async def test_refused_long_body_carries_the_headers(shop: Live) -> None:
    headers = {"origin": SHOP, "content-length": "9999999"}
    answer = await shop.client.request("POST", "/v1/sessions", headers=headers)
    assert (answer.status, allowed(answer)) == (413, SHOP)


async def test_unforeseen_errors_carry_the_headers(shop: Live, monkeypatch) -> None:
    def fail(*args, **kwargs) -> None:
        raise ValueError("unforeseen")

    monkeypatch.setattr("sessions_app.service.get_session", fail)
    headers = {"origin": SHOP}
    answer = await shop.client.request("GET", shop.path, headers=headers)
    assert (answer.status, answer.code, allowed(answer)) == (500, "internal", SHOP)


async def test_stream_carries_the_headers(shop: Live) -> None:
    url = f"{shop.path}/events"
    async with shop.client.stream(url, headers={"origin": SHOP}) as stream:
        headers = dict(stream.headers)
    assert headers["access-control-allow-origin"] == SHOP
    assert headers["vary"] == "Origin"


# A cache must not give the first customer's answer to the second.
async def test_vary_is_there_without_an_origin_too(shop: Live) -> None:
    config = "/v1/widget/config?key=pk_shop"
    for path in ("/v1/sessions", f"{shop.path}/messages", "/v1/nothing", config):
        answer = await shop.client.request("GET", path)
        names = {name.strip().lower() for name in answer.header("vary").split(",")}
        assert "origin" in names
        assert allowed(answer) is None


async def test_credentials_and_wildcards_are_never_offered(shop: Live) -> None:
    for path in ("/v1/sessions", "/v1/schema", "/v1/docs"):
        for origin in (SHOP, EVIL, "null"):
            answer = await shop.client.request("GET", path, headers={"origin": origin})
            assert answer.header("access-control-allow-credentials") is None
            assert allowed(answer) in (None, SHOP)


async def test_dashboard_allows_no_foreign_origin(shop: Live) -> None:
    for path in ("/admin/login/", "/", "/health", "/ready"):
        answer = await shop.client.request("GET", path, headers={"origin": SHOP})
        assert allowed(answer) is None
    refused = await preflight(shop, "/admin/login/", "content-type")
    assert allowed(refused) is None


async def test_wildcard_embeds_allow_their_subdomains(live: Live) -> None:
    await in_thread(make_embed, live.people.agent, origins=["https://*.shop.example"])
    for origin, expected in (("https://a.shop.example", 204), (SHOP, 403)):
        answer = await preflight(live, "/v1/sessions", "authorization", origin)
        assert answer.status == expected


async def test_disabled_embeds_allow_nobody(live: Live) -> None:
    await in_thread(make_embed, live.people.agent, is_enabled=False)
    assert (await preflight(live, "/v1/sessions", "authorization")).status == 403


# The whole way of a browser on the shop's site, from the script to the last event.
async def test_visitor_talks_across_origins(shop: Live) -> None:
    headers = {"origin": SHOP}
    nobody = shop.client_of(None)
    begun = await nobody.request(
        "POST", "/v1/widget/bootstrap", json={"key": "pk_shop"}, headers=headers
    )
    visitor = shop.client_of(begun.json["visitorToken"])
    made = await visitor.request("POST", "/v1/sessions", json={}, headers=headers)
    path = f"/v1/sessions/{made.json['id']}"
    posted = await visitor.request(
        "POST", f"{path}/messages", json={"content": "x"}, headers=headers
    )
    url = f"{path}/events?after={posted.json['cursor']}"
    async with visitor.stream(url, headers=headers) as stream:
        events = await stream.events("session.status_idle")
    assert events[-3].fields["text"] == "Hello"
    assert {allowed(answer) for answer in (begun, made, posted)} == {SHOP}


async def test_token_of_another_shop_is_refused(shop: Live) -> None:
    def other() -> str:
        embed = make_embed(
            shop.people.agent, "pk_other", origins=["https://other.example"]
        )
        return visitor_token(embed, "v1")

    client = shop.client_of(await in_thread(other))
    answer = await client.request("GET", "/v1/sessions", headers={"origin": SHOP})
    assert (answer.status, allowed(answer)) == (403, SHOP)
