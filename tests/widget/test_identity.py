"""Users that the site vouches for: proofs, and what comes along with them."""

from __future__ import annotations

import base64
import hmac
import json
import time
from hashlib import sha256
from typing import Any

import jwt
import pytest

from sessions_app.models import Idempotency, Message, Session
from tests.fakes.people import make_embed
from tests.widget.conftest import Visitors
from widget.models import Embed

SECRET = "a secret of the site's own, 32 characters or more"


@pytest.fixture(autouse=True)
def secret(embed: Embed) -> None:
    embed.secret = SECRET
    embed.save()


def token_of(
    user_id: str, secret: str = SECRET, life_s: float = 300, **claims: Any
) -> dict[str, str]:
    """An identity as a JWT."""
    claims = {"sub": user_id, "exp": time.time() + life_s, **claims}
    claims = {name: value for name, value in claims.items() if value is not None}
    return {"token": jwt.encode(claims, secret, algorithm="HS256")}


def hash_of(user_id: str) -> dict[str, str]:
    """An identity as a hash."""
    digest = hmac.new(SECRET.encode(), user_id.encode(), sha256).hexdigest()
    return {"userId": user_id, "hash": digest}


def by_hand(header: dict[str, Any], claims: Any, key: str = SECRET) -> dict[str, str]:
    """A token that a library would not make."""
    parts = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=")
        for part in (header, claims)
    ]
    body = b".".join(parts)
    digest = hmac.new(key.encode(), body, sha256).digest()
    signature = base64.urlsafe_b64encode(digest).rstrip(b"=")
    return {"token": b".".join([body, signature]).decode()}


def good(**claims: Any) -> dict[str, Any]:
    return {"sub": "bob", "exp": int(time.time()) + 3600, **claims}


def test_token_and_hash_name_the_same_visitor(visitors: Visitors) -> None:
    path = visitors.session(visitors.token(identity=token_of("käthe")))
    for identity in (hash_of("käthe"), token_of("käthe")):
        again = visitors.token(identity=identity)
        assert visitors.call(again, "GET", path).status == 200
    other = visitors.token(identity=token_of("bob"))
    assert visitors.call(other, "GET", path).status == 404


@pytest.mark.parametrize(
    ("identity", "status", "words"),
    [
        (token_of("bob", life_s=-60), 401, "has expired"),
        (token_of("bob", secret="x" * 40), 401, "not signed with"),
        (token_of("bob", secret="x" * 31 + "\n"), 401, "not signed with"),
        (token_of("bob", nbf=time.time() + 3600), 401, "not valid yet"),
        (by_hand({"alg": "none"}, good()), 401, "HS256"),
        (by_hand({"alg": "None"}, good()), 401, "HS256"),
        (by_hand({"alg": "HS512"}, good()), 401, "HS256"),
        (by_hand({"alg": "RS256"}, good()), 401, "HS256"),
        (by_hand({"alg": "hs256"}, good()), 401, "HS256"),
        (token_of("bob", life_s=25 * 3600), 400, "over 24 hours"),
        (token_of("bob", exp=None), 400, "'exp'"),
        (by_hand({"alg": "HS256"}, {"exp": time.time() + 3600}), 400, "'sub'"),
        (by_hand({"alg": "HS256"}, good(sub="")), 400, "'sub'"),
        (by_hand({"alg": "HS256"}, good(sub="x" * 201)), 400, "'sub'"),
        (by_hand({"alg": "HS256"}, good(sub="a\x00b")), 400, "NUL"),
        (by_hand({"alg": "HS256"}, good(sub=7)), 400, "cannot be read"),
        (by_hand({"alg": "HS256"}, good(name=["x"])), 400, "'name'"),
        (by_hand({"alg": "HS256"}, good(email="x" * 201)), 400, "'email'"),
        (by_hand({"alg": "HS256"}, good(exp="soon")), 400, "cannot be read"),
        (by_hand({"alg": "HS256"}, good(exp=float("inf"))), 400, "cannot be read"),
        (by_hand({"alg": "HS256"}, good(exp=float("nan"))), 400, "cannot be read"),
        (by_hand({"alg": "HS256"}, good(exp=True)), 401, "has expired"),
        (by_hand({"alg": "HS256"}, ["bob"]), 400, "cannot be read"),
        (by_hand({"alg": 7}, good()), 401, "HS256"),
        ({"token": "garbage"}, 400, "cannot be read"),
        ({"token": "a.b.c"}, 400, "cannot be read"),
        ({"token": "ÿ.ÿ.ÿ"}, 400, "cannot be read"),
        ({}, 400, "either token"),
        ({"userId": "bob"}, 400, "either token"),
        ({**token_of("bob"), **hash_of("bob")}, 400, "either token"),
    ],
)
def test_other_tokens_are_refused(
    visitors: Visitors, identity: dict[str, str], status: int, words: str
) -> None:
    answer = visitors.bootstrap(identity=identity)
    assert answer.status == status, answer.body
    assert words in answer.json["error"]["message"]


def test_key_of_another_embed_proves_nothing(visitors: Visitors, people: Any) -> None:
    make_embed(people.agent, "pk_other", secret="another " * 5)
    answer = visitors.bootstrap(key="pk_other", identity=token_of("bob"))
    assert answer.status == 401


# A secret that can be guessed offline from one token would be none.
def test_short_secret_takes_no_tokens(visitors: Visitors, embed: Embed) -> None:
    embed.secret = "s3cret"
    embed.save()
    answer = visitors.bootstrap(identity=token_of("bob"))
    assert (answer.status, answer.json["error"]["param"]) == (400, "identity")
    assert "32 characters" in answer.json["error"]["message"]


def test_session_says_who_it_is_for(visitors: Visitors) -> None:
    identity = token_of("bob", name="Bob", email="bob@shop.example")
    path = visitors.session(visitors.token(identity=identity))
    profile = {"name": "Bob", "email": "bob@shop.example"}
    session = Session.objects.get(pk=path.rpartition("/")[2])
    assert (session.user, session.metadata) == ("bob", {"user": profile})


def test_browser_cannot_say_who_it_is(visitors: Visitors) -> None:
    forged = {"metadata": {"user": {"name": "The boss"}, "page": "/"}}
    anonymous = visitors.token()
    bob = visitors.token(identity=token_of("bob", name="Bob"))
    for token, found in ((anonymous, {}), (bob, {"user": {"name": "Bob"}})):
        made = visitors.call(token, "POST", "/v1/sessions", forged)
        assert made.json["metadata"] == {"page": "/", **found}
        path = f"/v1/sessions/{made.json['id']}"
        changed = visitors.call(token, "PATCH", path, forged)
        assert changed.json["metadata"] == {"page": "/", **found}


def test_long_names_still_fit_the_token(visitors: Visitors) -> None:
    wide = "".join(chr(0x1F300 + 7 * number) for number in range(100))
    identity = token_of(wide, name=wide, email=wide)
    token = visitors.token(identity=identity)
    assert len(token) <= 4096
    visitors.session(token)
    assert visitors.bootstrap(visitor=token).status == 200


def test_renewed_user_stays_who_it_was(visitors: Visitors) -> None:
    first = visitors.token(identity=token_of("bob", name="Bob"))
    renewed = visitors.token(visitor=first)
    path = visitors.session(renewed)
    session = Session.objects.get(pk=path.rpartition("/")[2])
    assert (session.user, session.metadata) == ("bob", {"user": {"name": "Bob"}})


def test_sessions_come_along_to_the_known_visitor(visitors: Visitors) -> None:
    anonymous = visitors.token()
    path = visitors.session(anonymous)
    visitors.call(anonymous, "POST", f"{path}/messages", {"content": "x"})
    answer = visitors.bootstrap(visitor=anonymous, identity=token_of("bob", name="Bob"))
    assert answer.json["session"]["id"] == path.rpartition("/")[2]
    bob = answer.json["visitorToken"]
    said = visitors.call(bob, "GET", f"{path}/messages").json["data"]
    assert [message["content"] for message in said] == ["x"]
    assert visitors.call(anonymous, "GET", path).status == 404
    session = Session.objects.get(pk=path.rpartition("/")[2])
    assert (session.user, session.metadata) == ("bob", {"user": {"name": "Bob"}})
    assert Message.objects.get().author == session.owner


def test_message_sent_again_after_signing_in_is_no_second_one(
    visitors: Visitors,
) -> None:
    anonymous = visitors.token()
    path = visitors.session(anonymous)

    def post(token: str) -> Any:
        return visitors.rest(
            "POST",
            f"{path}/messages",
            {"content": "x"},
            token,
            **{"idempotency-key": "k1"},
        )

    first = post(anonymous)
    again = post(visitors.token(visitor=anonymous, identity=hash_of("bob")))
    assert (first.status, again.status) == (202, 202)
    assert first.json == again.json
    assert Idempotency.objects.count() == 1


# The first to sign in gets what was said; nobody after does.
def test_sessions_come_along_once(visitors: Visitors) -> None:
    anonymous = visitors.token()
    path = visitors.session(anonymous)
    bob = visitors.token(visitor=anonymous, identity=token_of("bob"))
    eve = visitors.token(visitor=anonymous, identity=token_of("eve"))
    assert visitors.call(eve, "GET", path).status == 404
    assert visitors.call(bob, "GET", path).status == 200


# Logging out and in as another user in the same browser.
def test_sessions_of_another_user_never_come_along(visitors: Visitors) -> None:
    bob = visitors.token(identity=token_of("bob"))
    path = visitors.session(bob)
    answer = visitors.bootstrap(visitor=bob, identity=token_of("eve"))
    assert answer.json["session"] is None
    eve = answer.json["visitorToken"]
    assert visitors.call(eve, "GET", path).status == 404
    assert visitors.call(eve, "GET", "/v1/sessions").json["data"] == []
    assert visitors.call(bob, "GET", path).status == 200


def test_only_the_visitors_own_token_brings_sessions(
    visitors: Visitors, people: Any
) -> None:
    other = make_embed(people.agent, "pk_other", secret=SECRET)
    anonymous = visitors.token()
    path = visitors.session(anonymous)
    session_id = path.rpartition("/")[2]
    for stolen in (anonymous[:-1] + "x", session_id, "", "lk_alice"):
        bob = visitors.token(visitor=stolen, identity=token_of("bob"))
        assert visitors.call(bob, "GET", path).status == 404
    # The same token at another embed
    visitors.token(key=other.key, visitor=anonymous, identity=token_of("bob"))
    # A token that is refused
    visitors.bootstrap(visitor=anonymous, identity=token_of("bob", life_s=-60))
    assert visitors.call(anonymous, "GET", path).status == 200


@pytest.fixture
def enforced(embed: Embed) -> Embed:
    embed.identity = "required"
    embed.save()
    return embed


def test_nobody_without_a_name_may_chat(visitors: Visitors, embed: Embed) -> None:
    anonymous = visitors.token()
    path = visitors.session(anonymous)
    embed.identity = "required"
    embed.save()
    answers = [
        visitors.bootstrap(),
        visitors.bootstrap(visitor=anonymous),
        visitors.call(anonymous, "POST", "/v1/sessions", {}),
        visitors.call(anonymous, "POST", f"{path}/messages", {"content": "x"}),
        visitors.call(anonymous, "GET", path),
    ]
    assert {(each.status, each.code) for each in answers} == {
        (403, "identity_required")
    }
    bob = visitors.token(visitor=anonymous, identity=token_of("bob"))
    assert visitors.call(bob, "GET", path).status == 200


# Otherwise a user whose account the site has closed could renew for a month.
def test_each_start_asks_for_the_proof(visitors: Visitors, enforced: Embed) -> None:
    bob = visitors.token(identity=token_of("bob"))
    visitors.session(bob)
    answer = visitors.bootstrap(visitor=bob)
    assert (answer.status, answer.code) == (403, "identity_required")


@pytest.fixture
def strict(embed: Embed) -> Embed:
    embed.tokens_only = True
    embed.save()
    return embed


# A hash never ends: whoever has seen one is that user until the secret changes.
def test_embed_for_tokens_only_takes_no_hash(visitors: Visitors, strict: Embed) -> None:
    token = token_of("bob")["token"]
    assert visitors.bootstrap(identity={"token": token}).status == 200
    in_tag = {"userId": "bob", "hash": token}
    assert visitors.bootstrap(identity=in_tag).status == 200
    for identity in (hash_of("bob"), {"userId": "bob", "hash": "0" * 64}):
        answer = visitors.bootstrap(identity=identity)
        assert (answer.status, answer.code) == (401, "unauthorized")
        assert answer.json["error"]["message"].endswith("and no hash.")


def test_who_came_by_a_hash_is_not_renewed_for_tokens_only(
    visitors: Visitors, embed: Embed
) -> None:
    by_hash = visitors.token(identity=hash_of("bob"))
    by_token = visitors.token(identity=token_of("bob"))
    path = visitors.session(by_hash)
    embed.tokens_only = True
    embed.save()
    assert visitors.call(visitors.token(visitor=by_hash), "GET", path).status == 404
    renewed = visitors.token(visitor=visitors.token(visitor=by_token))
    assert visitors.call(renewed, "GET", path).status == 200


def test_tokens_only_still_lets_visitors_without_a_name_in(
    visitors: Visitors, strict: Embed
) -> None:
    anonymous = visitors.token()
    path = visitors.session(anonymous)
    bob = visitors.token(visitor=anonymous, identity=token_of("bob"))
    assert visitors.call(bob, "GET", path).status == 200
