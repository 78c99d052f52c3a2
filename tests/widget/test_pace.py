from __future__ import annotations

import pytest

from lantern_site.proxies import TrustedProxies
from sessions_app.edge import pace
from sessions_app.store.db import in_thread
from tests.fakes.edge import Live
from tests.fakes.people import ALICE_KEY, make_embed, visitor_token
from tests.fakes.waiting import until

PROXY = "10.0.0.1"


async def statuses(live: Live, tokens: list[str], **options) -> list[int]:
    """Each token makes a session and posts once to it."""
    found = []
    for number, token in enumerate(tokens):
        client = live.client_of(token)
        made = await client.request("POST", "/v1/sessions", json={})
        url = f"/v1/sessions/{made.json['id']}/messages"
        forged = f"198.51.100.{number}"
        headers = {"x-forwarded-for": forged + options.get("behind", "")}
        peer = options.get("peer", "192.0.2.1")
        answer = await client.request(
            "POST", url, json={"content": "x"}, headers=headers, peer=peer
        )
        found.append(answer.status)
    return found


async def visitors_of(live: Live, count: int) -> list[str]:
    embed = await in_thread(make_embed, live.people.agent)
    return [visitor_token(embed, f"v{number}") for number in range(count)]


# C70 (1): behind the proxy a client writes to the left of its own address.
async def test_forged_header_through_the_proxy_counts_as_one(
    live: Live, settings
) -> None:
    settings.LANTERN = {
        "address_messages_per_minute": 30,
        "address_sessions_per_minute": 100,
    }
    live.app = TrustedProxies(live.app, [PROXY])
    tokens = await visitors_of(live, 35)
    found = await statuses(live, tokens, peer=PROXY, behind=", 203.0.113.7")
    assert found == [202] * 30 + [429] * 5


# C70 (2): a new session for each message is no way around the limit.
async def test_visitor_has_a_limit_over_all_sessions(live: Live, settings) -> None:
    settings.LANTERN = {"visitor_messages_per_minute": 3}
    token = (await visitors_of(live, 1))[0]
    assert await statuses(live, [token] * 5) == [202, 202, 202, 429, 429]


# C70 (1): the header of whoever connects directly says nothing.
async def test_address_has_a_limit_over_all_visitors(live: Live, settings) -> None:
    settings.LANTERN = {
        "address_messages_per_minute": 30,
        "address_sessions_per_minute": 100,
    }
    tokens = await visitors_of(live, 35)
    assert await statuses(live, tokens) == [202] * 30 + [429] * 5


async def test_refusal_says_when_to_come_back_and_costs_nothing(
    live: Live, settings
) -> None:
    settings.LANTERN = {"visitor_messages_per_minute": 1}
    token = (await visitors_of(live, 1))[0]
    client = live.client_of(token)
    made = await client.request("POST", "/v1/sessions", json={})
    url = f"/v1/sessions/{made.json['id']}/messages"
    first = await client.request("POST", url, json={"content": "x"})
    await until(lambda: live.provider.requests)
    for headers in ({}, {"accept": "text/event-stream"}):
        again = await client.request(
            "POST", url, json={"content": "x"}, headers=headers
        )
        assert (again.status, again.code) == (429, "rate_limited")
        assert int(again.header("retry-after")) > 0
    assert first.status == 202
    assert len(live.provider.requests) == 1


async def test_regenerating_counts_too(live: Live, settings) -> None:
    settings.LANTERN = {"visitor_messages_per_minute": 1}
    client = live.client_of((await visitors_of(live, 1))[0])
    made = await client.request("POST", "/v1/sessions", json={})
    path = f"/v1/sessions/{made.json['id']}"
    await client.request("POST", f"{path}/messages", json={"content": "x"})
    assert (await client.request("POST", f"{path}/regenerate")).status == 429


async def test_servers_have_no_limit(live: Live, settings) -> None:
    settings.LANTERN = {"visitor_messages_per_minute": 1}
    assert await statuses(live, [ALICE_KEY] * 3) == [202] * 3


async def test_behind_a_trusted_proxy_the_visitor_counts(live: Live, settings) -> None:
    settings.LANTERN = {"address_messages_per_minute": 1}
    live.app = TrustedProxies(live.app, [PROXY])
    tokens = await visitors_of(live, 3)
    assert await statuses(live, tokens, peer=PROXY) == [202] * 3
    assert await statuses(live, tokens[:2], peer="192.0.2.9") == [202, 429]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2001:db8::1", "2001:db8::ffff"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("garbage", "x" * 500),
    ],
)
def test_one_line_has_one_limit(first: str, second: str) -> None:
    assert pace._line_of(first) == pace._line_of(second)


def test_other_lines_have_their_own_limit() -> None:
    lines = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"]
    assert len({pace._line_of(line) for line in lines}) == 4


async def seen_by_app(headers: list[tuple[bytes, bytes]], peer: str) -> str:
    seen = []

    async def app(scope, receive, send) -> None:
        seen.append(scope["client"][0])

    scope = {"client": [peer, 1], "headers": headers}
    await TrustedProxies(app, ["10.0.0.0/8", "fd00::/8"])(scope, None, None)
    return seen[0]


@pytest.mark.parametrize(
    ("forwarded", "peer", "expected"),
    [
        ("203.0.113.7", "10.0.0.1", "203.0.113.7"),
        ("203.0.113.7", "192.0.2.1", "192.0.2.1"),
        ("1.1.1.1, 203.0.113.7", "10.0.0.1", "203.0.113.7"),
        ("1.1.1.1, 203.0.113.7, 10.9.9.9", "10.0.0.1", "203.0.113.7"),
        ("garbage, 10.9.9.9", "10.0.0.1", "10.9.9.9"),
        ("garbage", "10.0.0.1", "10.0.0.1"),
        ("", "10.0.0.1", "10.0.0.1"),
        (" , ,203.0.113.7, ", "10.0.0.1", "203.0.113.7"),
        ("203.0.113.7:4711", "10.0.0.1", "203.0.113.7"),
        ("[2001:db8::1]:80", "fd00::1", "2001:db8::1"),
        ("2001:db8::1", "::ffff:10.0.0.1", "2001:db8::1"),
        ("::ffff:203.0.113.7", "10.0.0.1", "203.0.113.7"),
    ],
)
async def test_header_is_read_from_its_right_end(
    forwarded: str, peer: str, expected: str
) -> None:
    headers = [(b"x-forwarded-for", forwarded.encode())]
    assert await seen_by_app(headers, peer) == expected


# A client's own header comes first, the proxy's is added after it.
async def test_repeated_headers_are_one_list() -> None:
    headers = [(b"x-forwarded-for", b"1.1.1.1"), (b"x-forwarded-for", b"203.0.113.7")]
    assert await seen_by_app(headers, "10.0.0.1") == "203.0.113.7"
