from __future__ import annotations

import hmac
import time
from hashlib import sha256

import pytest
from django.core import signing

from sessions_app.models import Session
from tests.fakes.edge import People
from tests.fakes.people import SHOP, make_embed
from tests.widget.conftest import Visitors
from widget.models import Embed


def signed(user_id: str, secret: str = "s3cret") -> dict[str, str]:
    digest = hmac.new(secret.encode(), user_id.encode(), sha256).hexdigest()
    return {"userId": user_id, "hash": digest}


def visitor_of(visitors: Visitors, token: str) -> str:
    """What the token's visitor owns is told apart by its sessions."""
    claim = signing.loads(token.removeprefix("lv_"), salt="lantern.visitor")
    return str(claim["v"])


def test_allowed_origin_gets_token_and_config(visitors: Visitors) -> None:
    answer = visitors.bootstrap()
    shown = answer.json
    assert answer.status == 200
    assert shown["visitorToken"].startswith("lv_")
    assert shown["session"] is None
    assert shown["config"]["title"] == "Chat with us"
    assert shown["config"]["attachments"] is False
    assert shown["config"]["pageTool"] is False
    assert shown["config"]["emailTranscript"] is False
    assert answer.header("cache-control") == "no-store"


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        "https://evil.example",
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example.evil.example",
        "https://www.shop.example",
        "https://evilshop.example",
        "https://shop.example/",
        "shop.example",
        "*",
    ],
)
def test_other_origins_are_refused(visitors: Visitors, origin: str | None) -> None:
    answer = visitors.bootstrap(origin=origin)
    assert (answer.status, answer.code) == (403, "forbidden_origin")


def test_wildcard_covers_what_is_below_the_dot(visitors: Visitors, embed) -> None:
    embed.origins = ["https://*.shop.example"]
    embed.save()
    for origin in ("https://a.shop.example", "https://a.b.shop.example"):
        assert visitors.bootstrap(origin=origin).status == 200
    for origin in (SHOP, "https://evilshop.example", "https://.shop.example", "null"):
        assert visitors.bootstrap(origin=origin).status == 403


def test_empty_list_means_nobody(visitors: Visitors, embed: Embed) -> None:
    embed.origins = []
    embed.save()
    assert visitors.bootstrap().status == 403


def test_disabled_and_unknown_embeds_look_alike(visitors: Visitors, embed) -> None:
    unknown = visitors.bootstrap(key="pk_none")
    embed.is_enabled = False
    embed.save()
    disabled = visitors.bootstrap()
    assert (unknown.status, disabled.status) == (404, 404)
    assert unknown.json["error"]["message"] == disabled.json["error"]["message"]


def test_renewal_keeps_the_visitor_and_its_session(visitors: Visitors) -> None:
    first = visitors.token()
    path = visitors.session(first)
    answer = visitors.bootstrap(visitor=first)
    assert answer.json["session"]["id"] == path.rpartition("/")[2]
    renewed = answer.json["visitorToken"]
    assert visitors.call(renewed, "GET", path).status == 200


def test_closed_session_is_not_offered(visitors: Visitors) -> None:
    first = visitors.token()
    visitors.session(first)
    Session.objects.update(is_closed=True)
    assert visitors.bootstrap(visitor=first).json["session"] is None


def test_expired_token_still_names_its_visitor(visitors: Visitors, monkeypatch) -> None:
    first = visitors.token()
    path = visitors.session(first)
    later = time.time() + 3601
    monkeypatch.setattr(signing.time, "time", lambda: later)
    assert visitors.call(first, "GET", path).status == 401
    renewed = visitors.token(visitor=first)
    assert visitors.call(renewed, "GET", path).status == 200


def test_token_of_another_embed_gives_a_new_visitor(visitors: Visitors, people) -> None:
    make_embed(people.agent, "pk_other")
    other = visitors.token(key="pk_other")
    assert visitor_of(visitors, visitors.token(visitor=other)) != visitor_of(
        visitors, other
    )


@pytest.mark.parametrize(
    "old", ["", "garbage", "lv_", "lv_x:y:z", "lk_alice", "ÿ" * 99]
)
def test_garbage_gives_a_new_visitor(visitors: Visitors, old: str) -> None:
    assert visitors.bootstrap(visitor=old).status == 200


def test_signed_identity_is_the_same_visitor_everywhere(
    visitors: Visitors, embed: Embed
) -> None:
    embed.secret = "s3cret"
    embed.save()
    path = visitors.session(visitors.token(identity=signed("käthe")))
    again = visitors.token(identity=signed("käthe"))
    other = visitors.token(identity=signed("bob"))
    assert visitors.call(again, "GET", path).status == 200
    assert visitors.call(other, "GET", path).status == 404


# C67: what the page says of its user counts only when signed.
@pytest.mark.parametrize(
    "identity",
    [
        {"userId": "bob", "hash": ""},
        {"userId": "bob", "hash": "0" * 64},
        {"userId": "bob", "hash": signed("eve")["hash"]},
        signed("bob", secret="other"),
        signed("bob", secret=""),
        {"userId": "bob", "hash": "ÿ" * 64},
    ],
)
def test_wrong_signature_is_refused(visitors: Visitors, embed, identity) -> None:
    embed.secret = "s3cret"
    embed.save()
    assert visitors.bootstrap(identity=identity).status in (400, 401)


def test_identity_without_a_secret_is_refused(visitors: Visitors) -> None:
    answer = visitors.bootstrap(identity=signed("bob", secret=""))
    assert (answer.status, answer.json["error"]["param"]) == (400, "identity")


def test_visitor_cannot_pose_as_a_signed_one(visitors: Visitors, embed) -> None:
    embed.secret = "s3cret"
    embed.save()
    bob = visitors.token(identity=signed("bob"))
    assert visitor_of(visitors, bob).startswith("user.")
    assert "." not in visitor_of(visitors, visitors.token())


@pytest.mark.parametrize(
    "body",
    [
        {"key": 7},
        {"key": "pk_" + "x" * 100},
        {"x": 1},
        {"identity": "bob"},
        {"identity": {"userId": "bob"}},
        {"identity": {"userId": "bob", "hash": "x" * 65}},
        {"identity": {"userId": "x" * 201, "hash": "x"}},
        {"identity": {"userId": "bob", "hash": "x", "role": "admin"}},
        {"visitor": 7},
        {"visitor": "x" * 4097},
        {"agent": "helper"},
    ],
)
def test_bad_body_is_refused(visitors: Visitors, body) -> None:
    assert visitors.bootstrap(**body).status == 400


def test_embed_of_a_disabled_agent_starts_nothing(
    visitors: Visitors, people: People
) -> None:
    token = visitors.token()
    people.agent.is_enabled = False
    people.agent.save()
    assert visitors.call(token, "POST", "/v1/sessions", {}).status == 400
