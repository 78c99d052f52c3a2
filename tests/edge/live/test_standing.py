"""A credential that is revoked opens nothing more, whatever it holds open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session as Login
from django.core import signing
from django.db import OperationalError

from sessions_app.bus import memory
from sessions_app.edge.live import standing
from sessions_app.models import ApiKey, Session
from sessions_app.store.db import in_thread
from tests.edge.live.conftest import Socket
from tests.edge.live.test_handshake import OWN, make_staff_cookie
from tests.fakes.asgi import PATIENCE_S
from tests.fakes.edge import Live
from tests.fakes.people import SHOP, make_embed, visitor_token
from tests.fakes.scripted_provider import says
from tests.fakes.waiting import until
from widget.farewell import say_farewell
from widget.models import Embed


async def close_code(socket: Socket) -> int:
    closed = await socket.communicator.receive_output(PATIENCE_S)
    assert closed["type"] == "websocket.close", closed
    return int(closed["code"])


async def revoked(socket: Socket, revoke: Callable[[], Any]) -> str:
    """The error's code that a start gets after that; the socket is closed."""
    await socket.start()
    await socket.until("turn.completed")
    await socket.read()
    await in_thread(revoke)
    answer = await socket.ask("session.start", prompt="x", requestId="r")
    assert (answer["type"], answer["requestId"]) == ("error", "r")
    assert await close_code(socket) == 1008
    assert await in_thread(Session.objects.count) <= 2  # one of Alice's own
    return str(answer["code"])


def disable_key() -> None:
    ApiKey.objects.update(is_enabled=False)


def delete_key() -> None:
    ApiKey.objects.all().delete()


def take_the_scope() -> None:
    ApiKey.objects.update(scopes=["completions"])


@pytest.mark.parametrize(
    ("revoke", "code"),
    [
        (disable_key, "unauthorized"),
        (delete_key, "unauthorized"),
        (take_the_scope, "not_allowed"),
    ],
)
async def test_revoked_key_starts_nothing(socket: Socket, revoke, code: str) -> None:
    assert await revoked(socket, revoke) == code
    await socket.hang_up()


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("session.prompt", {"prompt": "x"}),
        ("session.tool_results", {"results": []}),
        ("session.approve", {"approvals": []}),
        ("session.attach", {}),
        ("session.cancel", {}),
    ],
)
async def test_revoked_key_does_nothing_else(socket: Socket, kind, fields) -> None:
    session_id = await socket.start()
    await socket.until("turn.completed")
    await socket.read()
    await in_thread(disable_key)
    answer = await socket.ask(kind, sessionId=session_id, **fields)
    assert (answer["type"], answer["code"]) == ("error", "unauthorized")
    assert await close_code(socket) == 1008
    await socket.hang_up()


async def test_what_it_started_ends_with_the_key(live: Live, socket: Socket) -> None:
    provider = live.plays([says("Hel")[0], asyncio.Event()])
    session_id = await socket.start()
    await socket.until("output.delta")
    await in_thread(delete_key)
    await socket.ask("session.start", prompt="x")
    await socket.hang_up()
    await until(lambda: provider.was_closed == 1)
    found = await in_thread(Session.objects.get, pk=session_id)
    assert found.is_closed


VISITORS = [
    (lambda: Embed.objects.update(is_enabled=False), "unauthorized"),
    (lambda: say_farewell("visitor:pk_shop:v1"), "unauthorized"),
    (lambda: Embed.objects.update(origins=[]), "forbidden_origin"),
    (lambda: Embed.objects.update(identity="required"), "identity_required"),
]


async def visitor_socket(live: Live) -> Socket:
    embed = await in_thread(make_embed, live.people.agent)
    live.client = live.client_of(visitor_token(embed, "v1"))
    return await Socket(live, headers={"origin": SHOP}).open()


@pytest.mark.parametrize(("revoke", "code"), VISITORS)
async def test_revoked_visitor_starts_nothing(live: Live, revoke, code: str) -> None:
    socket = await visitor_socket(live)
    assert await revoked(socket, revoke) == code
    await socket.hang_up()


async def test_visitors_token_runs_out(live: Live, settings) -> None:
    socket = await visitor_socket(live)

    def run_out() -> None:
        settings.LANTERN = {"visitor_token_s": -1.0}

    assert await revoked(socket, run_out) == "unauthorized"
    await socket.hang_up()


async def staff_socket(live: Live) -> Socket:
    rights = ("view_session", "add_session", "change_session")
    cookie = await in_thread(make_staff_cookie, *rights)
    live.client = live.client_of(None)
    cookies = f"{django_settings.SESSION_COOKIE_NAME}={cookie}"
    return await Socket(live, headers={"cookie": cookies, "origin": OWN}).open()


STAFF = [
    lambda: User.objects.update(is_staff=False),
    lambda: User.objects.update(is_active=False),
    lambda: User.user_permissions.through.objects.all().delete(),
    lambda: Login.objects.all().delete(),
]


@pytest.mark.parametrize("revoke", STAFF)
async def test_demoted_or_logged_out_staff_starts_nothing(live: Live, revoke) -> None:
    socket = await staff_socket(live)
    assert await revoked(socket, revoke) == "unauthorized"
    await socket.hang_up()


@pytest.mark.parametrize("kept", [(), ("change_session",), ("add_session",)])
async def test_start_takes_the_rights_to_add_and_change(live: Live, kept) -> None:
    socket = await staff_socket(live)

    def demote() -> None:
        names = ["view_session", *kept]
        rights = Permission.objects.filter(codename__in=names)
        User.objects.get().user_permissions.set(rights)

    await in_thread(demote)
    answer = await socket.ask("session.start", prompt="x")
    assert answer["code"] == "not_allowed"
    assert (await socket.ask("ping"))["type"] == "pong"
    await socket.hang_up()


@pytest.fixture
def often(settings, monkeypatch) -> None:
    """Followers are looked at all the time."""
    monkeypatch.setattr(memory, "TICK_S", 0.01)
    monkeypatch.setattr(standing, "LOOK_S", 0.02)
    settings.LANTERN = {"heartbeat_s": 0.02}


async def test_follower_is_closed_with_the_key(
    often: None, live: Live, socket: Socket
) -> None:
    await socket.ask("session.attach", sessionId=live.people.session.pk)
    await in_thread(disable_key)
    assert (await socket.read())["code"] == "unauthorized"
    assert await close_code(socket) == 1008


async def test_stream_ends_with_the_key(often: None, live: Live) -> None:
    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.frame()
        await in_thread(disable_key)
        assert await stream.events() == []
    assert stream.is_ended


async def test_stream_ends_when_the_key_sees_less(often: None, live: Live) -> None:
    def scopes(*names: str) -> None:
        ApiKey.objects.update(scopes=list(names))

    await in_thread(scopes, "sessions", "sessions.all")
    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.frame()
        await in_thread(scopes, "sessions")
        assert await stream.events() == []


async def test_ticket_streams_end_with_the_key_and_not_the_minute(
    live: Live, often: None, monkeypatch
) -> None:
    answer = await live.client.request("POST", f"{live.path}/ticket", json={})
    url = f"{live.path}/events?ticket={answer.json['ticket']}"
    async with live.client_of(None).stream(url) as stream:
        now = signing.time.time
        monkeypatch.setattr(signing.time, "time", lambda: now() + 61)
        for _ in range(4):
            assert (await stream.frame()).comment in ("open", "heartbeat")
        await in_thread(disable_key)
        assert await stream.events() == []


async def test_stream_does_not_wait_for_a_database_that_hangs(
    live: Live, often: None, monkeypatch
) -> None:
    is_back = threading.Event()

    def hang(**_: object) -> None:
        is_back.wait(60)
        raise OperationalError

    try:
        async with live.client.stream(f"{live.path}/events") as stream:
            await stream.frame()
            with monkeypatch.context() as patch:
                patch.setattr(ApiKey.objects, "filter", hang)
                for _ in range(4):
                    assert (await stream.frame()).comment == "heartbeat"
            await in_thread(disable_key)
            is_back.set()
            assert await stream.events() == []
    finally:
        is_back.set()


async def test_stream_goes_on_while_the_database_is_down(
    live: Live, often: None, monkeypatch
) -> None:
    def fail(**_: object) -> None:
        raise OperationalError

    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.frame()
        monkeypatch.setattr(ApiKey.objects, "filter", fail)
        for _ in range(4):
            assert (await stream.frame()).comment == "heartbeat"
