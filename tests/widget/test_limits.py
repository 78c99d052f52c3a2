"""What a public key may make: rows, turns and tokens, by visitor, address and embed."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.models import RequestLimit, Session, Turn
from sessions_app.store.db import in_thread
from tests.edge.live.conftest import Socket
from tests.fakes.asgi import Answer
from tests.fakes.edge import Live
from tests.fakes.people import ALICE_KEY, SHOP, make_embed, visitor_token
from tests.widget.conftest import Visitors


def limited(on: str, **amounts: int) -> None:
    RequestLimit.objects.create(on=on, **amounts)


def refused(answer: Answer, on: str) -> bool:
    """Says which limit it was, and when to come back."""
    assert (answer.status, answer.code) == (429, "rate_limited")
    assert 0 < int(answer.header("retry-after") or 0) <= 65
    return bool(answer.json["error"]["limit"] == on)


# A public key could begin sessions without end, for nobody posted.
def test_sessions_of_a_visitor_are_limited(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"visitor_sessions_per_minute": 2}
    token = visitors.token()
    made = [visitors.call(token, "POST", "/v1/sessions", {}) for _ in range(4)]
    assert [answer.status for answer in made] == [201, 201, 429, 429]
    assert refused(made[3], "visitor")
    assert Session.objects.filter(owner__startswith="visitor:").count() == 2


def test_sessions_of_an_address_are_limited(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"address_sessions_per_minute": 3}
    made = [
        visitors.call(visitors.token(), "POST", "/v1/sessions", {}) for _ in range(5)
    ]
    assert [answer.status for answer in made] == [201] * 3 + [429] * 2
    assert refused(made[4], "address")


def test_starts_of_an_address_are_limited(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"address_bootstraps_per_minute": 2}
    answers = [visitors.bootstrap(key=key) for key in ("pk_none", "pk_shop", "pk_shop")]
    assert [answer.status for answer in answers] == [404, 200, 429]
    assert refused(answers[2], "address")


def test_starts_of_an_embed_have_a_ceiling(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"embed_bootstraps_per_minute": 2}
    answers = [visitors.bootstrap() for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert refused(answers[2], "embed:pk_shop")


# The ceiling of an embed would let anybody take a busy site's looks away.
def test_looks_are_limited_by_address_alone(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"address_configs_per_minute": 3}
    for on in ("address", "embed:pk_shop", "agent:helper", "visitor"):
        limited(on, requests_per_minute=1)
    answers = [visitors.config() for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    assert refused(answers[3], "address")
    assert answers[3].header("cache-control") != answers[0].header("cache-control")


def test_looks_of_unknown_embeds_count_too(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"address_configs_per_minute": 2}
    asked = [visitors.config(key=f"pk_{number}").status for number in range(3)]
    assert asked == [404, 404, 429]


def test_unreadable_starts_count_too(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"address_bootstraps_per_minute": 2}
    rest = visitors.rest
    sent = [rest("POST", "/v1/widget/bootstrap", b"{", None).status for _ in range(3)]
    assert sent == [400, 400, 429]


# Otherwise any site could use up the ceiling of another.
def test_other_origins_do_not_count_on_the_embed(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"embed_bootstraps_per_minute": 1}
    for _ in range(3):
        assert visitors.bootstrap(origin="https://evil.example").status == 403
    assert visitors.bootstrap().status == 200


def test_renewals_of_a_visitor_are_limited(visitors: Visitors, settings) -> None:
    settings.LANTERN = {"visitor_bootstraps_per_minute": 2}
    token = visitors.token()
    answers = [visitors.bootstrap(visitor=token) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 429]
    assert visitors.bootstrap().status == 200


# Each visitor and each address stays within its limit; the embed has one, too.
def test_embed_has_a_ceiling_of_sessions_and_messages(
    visitors: Visitors, people: Any
) -> None:
    limited("embed:pk_shop", requests_per_minute=3)
    make_embed(people.agent, "pk_other")
    tokens = [visitors.token() for _ in range(3)]
    paths = [visitors.session(token) for token in tokens]
    assert refused(
        visitors.call(tokens[0], "POST", "/v1/sessions", {}), "embed:pk_shop"
    )
    sent = [
        visitors.call(token, "POST", f"{path}/messages", {"content": "x"})
        for token, path in [*zip(tokens, paths, strict=True), (tokens[0], paths[0])]
    ]
    assert [answer.status for answer in sent] == [202] * 3 + [429]
    other = visitors.token(key="pk_other")
    assert visitors.call(other, "POST", "/v1/sessions", {}).status == 201


def test_limit_of_visitors_takes_the_place_of_the_settings(
    visitors: Visitors, settings
) -> None:
    settings.LANTERN = {"visitor_sessions_per_minute": 1}
    limited("visitor", requests_per_minute=2)
    token = visitors.token()
    made = [visitors.call(token, "POST", "/v1/sessions", {}).status for _ in range(3)]
    assert made == [201, 201, 429]


def test_key_is_limited_once_a_limit_is_set(visitors: Visitors) -> None:
    rest = visitors.rest
    assert [rest("POST", "/v1/sessions", {}).status for _ in range(30)] == [201] * 30
    limited(f"key:{ALICE_KEY}", requests_per_minute=2)
    made = [rest("POST", "/v1/sessions", {}) for _ in range(3)]
    assert [answer.status for answer in made] == [201, 201, 429]
    assert refused(made[2], f"key:{ALICE_KEY}")
    assert rest("POST", "/v1/sessions", {}, key="lk_bob").status == 201
    assert rest("GET", "/v1/sessions").status == 200


def test_agent_is_limited_over_all_callers(visitors: Visitors) -> None:
    limited("agent:helper", requests_per_minute=2)
    rest = visitors.rest
    made = [rest("POST", "/v1/sessions", {}) for _ in range(2)]
    refusal = visitors.call(visitors.token(), "POST", "/v1/sessions", {})
    assert refused(refusal, "agent:helper")
    path = f"/v1/sessions/{made[0].json['id']}/messages"
    sent = [rest("POST", path, {"content": "x"}).status for _ in range(3)]
    assert sent == [202, 202, 429]


def test_disabled_limit_does_not_limit(visitors: Visitors) -> None:
    limited("embed:pk_shop", requests_per_minute=0)
    assert visitors.bootstrap().status == 429
    row = RequestLimit.objects.get()
    row.is_enabled = False
    row.save()
    assert visitors.bootstrap().status == 200


@pytest.mark.parametrize("on", ["visitor", "embed:pk_shop", "agent:helper"])
def test_turns_at_once_are_limited(visitors: Visitors, on: str) -> None:
    limited(on, concurrent_turns=1)
    token = visitors.token()
    busy, idle = visitors.session(token), visitors.session(token)
    statuses = [
        visitors.call(token, "POST", f"{path}/messages", {"content": "x"}).status
        for path in (busy, busy, idle)
    ]
    # The second one waits in its session's own queue: it is no second turn at once.
    assert statuses == [202, 202, 429]
    Turn.objects.update(state="completed")
    again = visitors.call(token, "POST", f"{idle}/messages", {"content": "x"})
    assert again.status == 202


def test_turns_of_a_key_at_once_are_limited(visitors: Visitors, people: Any) -> None:
    limited(f"key:{ALICE_KEY}", concurrent_turns=1)
    rest = visitors.rest
    first = rest("POST", f"{people.path}/messages", {"content": "x"})
    made = rest("POST", "/v1/sessions", {}).json["id"]
    second = rest("POST", f"/v1/sessions/{made}/messages", {"content": "x"})
    assert first.status == 202
    assert refused(second, f"key:{ALICE_KEY}")
    assert Turn.objects.count() == 1


def test_other_visitors_turns_are_their_own(visitors: Visitors) -> None:
    limited("visitor", concurrent_turns=1)
    for token in (visitors.token(), visitors.token()):
        path = visitors.session(token)
        sent = visitors.call(token, "POST", f"{path}/messages", {"content": "x"})
        assert sent.status == 202


async def test_socket_counts_as_rest_does(live: Live, settings) -> None:
    settings.LANTERN = {"visitor_sessions_per_minute": 1}
    embed = await in_thread(make_embed, live.people.agent)
    live.client = live.client_of(visitor_token(embed, "v1"))
    socket = await Socket(live, headers={"origin": SHOP}).open()
    await socket.start()
    await socket.until("turn.completed")
    await socket.until("session.state")
    refused = await socket.ask("session.start", prompt="x")
    await socket.hang_up()
    assert refused["code"] == "rate_limited"
    made = await live.client.request("POST", "/v1/sessions", json={})
    assert made.status == 429
    owned = Session.objects.filter(owner__startswith="visitor:")
    assert await in_thread(owned.count) == 1
    assert len(live.provider.requests) == 1
