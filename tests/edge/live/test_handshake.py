from __future__ import annotations

import base64

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.edge.live.conftest import Socket
from tests.fakes.edge import Live
from tests.fakes.people import ALICE_KEY, SHOP, make_embed, visitor_token

OWN = "http://testserver"
STRANGE_ORIGINS = [
    "https://shop.customer.example",
    "null",
    "http://evil-testserver",
    "http://testserver.evil.example",
]


def in_protocol(token: str) -> str:
    return "lantern.auth." + base64.urlsafe_b64encode(token.encode()).decode().rstrip(
        "="
    )


async def status_of(live: Live, key: str | None = None, **handshake) -> int:
    """101 if the socket opens, 403 if it is closed before that."""
    communicator = live.client_of(key).socket(**handshake)
    is_open, _ = await communicator.connect(5)
    if is_open:
        await communicator.receive_from(5)
        await communicator.disconnect()
    return 101 if is_open else 403


def make_staff_cookie(*permissions: str, is_staff: bool = True) -> str:
    user = User.objects.create_user("staff", password="x", is_staff=is_staff)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client.cookies[django_settings.SESSION_COOKIE_NAME].value


def make_visitor(live: Live) -> str:
    return visitor_token(make_embed(live.people.agent), "v1")


# C66: the 101 answer names the plain protocol only.
async def test_token_in_subprotocol_is_never_echoed(live: Live) -> None:
    for protocols in (
        ["lantern.v1", in_protocol(ALICE_KEY)],
        [in_protocol(ALICE_KEY), "lantern.v1"],
    ):
        socket = live.client_of(None).socket(protocols=protocols)
        assert await socket.connect(5) == (True, "lantern.v1")
        await socket.disconnect()


async def test_header_alone_selects_no_protocol(live: Live) -> None:
    socket = live.client.socket()
    assert await socket.connect(5) == (True, None)
    await socket.disconnect()


@pytest.mark.parametrize(
    "protocols",
    [
        ["lantern.v1"],
        ["lantern.v1", in_protocol("lk_wrong")],
        ["lantern.v1", in_protocol("lt_ticket")],
        ["lantern.v1", "lantern.auth."],
        ["lantern.v1", "lantern.auth.%%%"],
        ["lantern.v1", "lantern.auth.ÿ"],
        ["lantern.v1", "lantern.auth." + "A" * 100_000],
        ["lantern.v1", "lantern.auth." + base64.b64encode(b"lk_\xff").decode()],
        [in_protocol(ALICE_KEY)],
        ["lantern.v2", in_protocol(ALICE_KEY)],
    ],
)
async def test_bad_credential_is_refused_before_accept(live: Live, protocols) -> None:
    assert await status_of(live, protocols=protocols) == 403


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic lk_alice", "lk_alice", "Bearer lk_\xff"]
)
async def test_bad_header_is_refused(live: Live, header: str) -> None:
    assert await status_of(live, headers={"authorization": header}) == 403


async def test_key_in_the_url_is_refused(live: Live) -> None:
    assert await status_of(live, path=f"/v1/socket?token={ALICE_KEY}") == 403


async def test_other_paths_are_refused(live: Live) -> None:
    assert await status_of(live, ALICE_KEY, path="/v1/other") == 403


async def test_key_needs_the_scope(live: Live, in_database) -> None:
    live.people.alice.scopes = ["completions"]
    await in_database(live.people.alice.save)
    assert await status_of(live, ALICE_KEY) == 403


async def test_disabled_key_is_refused(live: Live, in_database) -> None:
    live.people.alice.is_enabled = False
    await in_database(live.people.alice.save)
    assert await status_of(live, ALICE_KEY) == 403


# C69, the token socket: a secret key is no browser credential, so Origin says nothing.
async def test_key_opens_from_any_origin(live: Live) -> None:
    assert await status_of(live, ALICE_KEY) == 101
    for origin in (OWN, *STRANGE_ORIGINS):
        assert await status_of(live, ALICE_KEY, headers={"origin": origin}) == 101


# C69, the token socket of the widget
async def test_visitor_opens_from_its_embeds_origins_only(
    live: Live, in_database
) -> None:
    token = await in_database(make_visitor, live)
    assert await status_of(live, token) == 101
    assert await status_of(live, token, headers={"origin": SHOP}) == 101
    for origin in (OWN, *STRANGE_ORIGINS):
        assert await status_of(live, token, headers={"origin": origin}) == 403


# C69, the cookie socket
async def test_cookie_opens_from_its_own_origin_only(live: Live, in_database) -> None:
    cookie = await in_database(make_staff_cookie, "view_session")
    headers = {"cookie": f"{django_settings.SESSION_COOKIE_NAME}={cookie}"}
    assert await status_of(live, headers={**headers, "origin": OWN}) == 101
    for origin in STRANGE_ORIGINS:
        assert await status_of(live, headers={**headers, "origin": origin}) == 403
    assert await status_of(live, headers=headers) == 403


async def test_cookie_is_ignored_beside_a_token(live: Live, in_database) -> None:
    cookie = await in_database(make_staff_cookie, "view_session")
    headers = {
        "cookie": f"{django_settings.SESSION_COOKIE_NAME}={cookie}",
        "origin": OWN,
    }
    protocols = ["lantern.v1", in_protocol("lk_wrong")]
    assert await status_of(live, headers=headers, protocols=protocols) == 403


@pytest.mark.parametrize(
    "cookie",
    ["", "garbage", "sessionid=", "sessionid=short", 'sessionid="\\000aaaaaaaaa"'],
)
async def test_garbage_cookies_are_refused(live: Live, cookie: str) -> None:
    assert await status_of(live, headers={"cookie": cookie, "origin": OWN}) == 403


async def test_staff_that_may_only_look_cannot_start(live: Live, in_database) -> None:
    cookie = await in_database(make_staff_cookie, "view_session")
    headers = {
        "cookie": f"{django_settings.SESSION_COOKIE_NAME}={cookie}",
        "origin": OWN,
    }
    live.client = live.client_of(None)
    socket = await Socket(live, headers=headers).open()
    assert (await socket.ask("session.start", prompt="x"))["code"] == "not_allowed"
    session_id = live.people.session.pk
    assert (await socket.ask("session.attach", sessionId=session_id))["state"] == "idle"
    await socket.hang_up()


async def test_logged_in_visitor_of_the_site_is_no_staff(
    live: Live, in_database
) -> None:
    cookie = await in_database(make_staff_cookie, "view_session", is_staff=False)
    headers = {
        "cookie": f"{django_settings.SESSION_COOKIE_NAME}={cookie}",
        "origin": OWN,
    }
    assert await status_of(live, headers=headers) == 403


# What a visitor is told of the installation: its own agent and nothing else.
async def test_visitors_hello_names_its_agent_alone(live: Live, in_database) -> None:
    live.client = live.client_of(await in_database(make_visitor, live))
    socket = await Socket(live, headers={"origin": SHOP}).open()
    hello = socket.hello
    refused = await socket.ask("session.start", prompt="x", model="gpt-x")
    await socket.hang_up()
    assert hello["agents"] == ["helper"]
    assert hello["providers"] == hello["models"] == []
    assert refused["code"] == "bad_request"
