"""Clients as they come: slow, gone, many, repeating themselves, making things up."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import Callable
from contextlib import aclosing
from time import monotonic

import psycopg
import pytest

from tests.drill.acts import PATIENCE_S, billed, during, ends, judge, slow_reply
from tests.drill.conftest import Site
from tests.drill.history import watch
from tests.drill.tally import PROPERTY
from tests.fakes.client import Client, Event, Posted
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.fault_proxy import FaultProxy
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.openai_events import DONE, finish, text, usage
from tests.fakes.waiting import until

RECONNECTS = int(os.environ.get("LANTERN_DRILL_RECONNECTS", "1000"))
SESSIONS = 50
SWEEPS_PER_S = 60
"""What the database is asked for by processes that do nothing."""
FAST = 100

pytestmark = [pytest.mark.live, pytest.mark.timeout(180 + RECONNECTS / 50)]


def request(server: LiveServer, posted: Posted, after: str) -> bytes:
    path = f"/v1/sessions/{posted.session_id}/events"
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}"
    return f"{head}\r\nLast-Event-ID: {after}\r\n\r\n".encode()


def silent_reader(server: LiveServer, posted: Posted) -> socket.socket:
    """A connection that asks for the events, and reads nothing."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", server.port))
    sock.sendall(request(server, posted, posted.cursor))
    return sock


async def test_slow_and_vanishing_readers_beside_fast_ones(
    site: Site, upstream: FakeUpstream
) -> None:
    words = [step for n in range(60) for step in (text(f"{n}" + "x" * 2000), 0.05)]
    upstream.enqueue(Reply([*words, finish(), usage(11, 60), DONE]))
    server = site.cluster.web[0]
    async with Client(server.url, KEY) as client:
        posted = await client.post(await client.create())
        await client.first("message_delta", posted)
        slow, gone = silent_reader(server, posted), silent_reader(server, posted)
        seen: list[list[Event]] = [[] for _ in range(FAST)]
        reading = [asyncio.create_task(watch(client, posted, each)) for each in seen]
        await until(lambda: all(seen), PATIENCE_S)
        linger = struct.pack("ii", 1, 0)
        gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        gone.close()  # with a reset
        await asyncio.wait_for(asyncio.gather(*reading), PATIENCE_S)
        assert billed(await judge(client, posted, seen[0])) == (11, 60, False)
        whole = [[(e.id, e.data) for e in events] for events in seen]
        assert all(each == whole[0] for each in whole)
        read = await asyncio.to_thread(read_to_idle, slow)
    assert read.count(b"event: message_delta") == 60


def read_to_idle(sock: socket.socket) -> bytes:
    with sock:
        sock.settimeout(20)
        seen = b""
        while b"session.status_idle" not in seen:
            piece = sock.recv(65536)
            assert piece, "the stream ended early"
            seen += piece
        return seen


async def test_all_readers_come_back_at_once(
    site: Site,
    upstream: FakeUpstream,
    record_property: Callable[[str, object], None],
) -> None:
    upstream.enqueue(slow_reply(20, 0.0))
    server = site.cluster.web[1]  # no proxy of this process is to be measured
    database = site.cluster.database_url
    async with Client(server.url, KEY) as client:
        posts = [await client.post(await client.create()) for _ in range(SESSIONS)]
        for posted in posts:
            await client.ended(posted)
        before, begin = await asyncio.to_thread(transactions, database), monotonic()
        coming = [ends_seen(server, posts[n % SESSIONS]) for n in range(RECONNECTS)]
        # Packets that the kernel drops are sent again after 1, 3, 7, 15 s and so on.
        counts = await asyncio.wait_for(asyncio.gather(*coming), 30 + RECONNECTS / 200)
        took_s = monotonic() - begin
        reads = await asyncio.to_thread(transactions, database) - before
        assert set(counts) == {1}
        again = await client.post(posts[0].session_id)
        assert (await client.ended(again))["status"] == "completed"
    told = {"readers that came back at once": RECONNECTS, "their transactions": reads}
    told["milliseconds until the last of them was told"] = round(took_s * 1000)
    record_property(PROPERTY, json.dumps(told))
    assert reads <= RECONNECTS + SWEEPS_PER_S * took_s


def transactions(database_url: str) -> int:
    """What the database has done for all processes; each read is one."""
    query = (
        "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
    )
    with psycopg.connect(database_url) as connection:
        [(count,)] = connection.execute(query).fetchall()
    return int(count)


async def ends_seen(server: LiveServer, posted: Posted) -> int:
    """How many ends one reader of the last words sees; it comes until it is let in."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(request(server, posted, f"{posted.cursor.split('-')[0]}-12"))
            seen = await reader.readuntil(b"event: session.status_idle")
        except (ConnectionError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.5)
            continue
        writer.close()
        assert b"HTTP/1.1 200" in seen
        assert seen.count(b"event: message_delta") == 10
        return seen.count(b"event: message_completed")


async def test_one_key_with_many_bodies_at_once_makes_one_turn(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(5, 0.0))
    one, other = site.cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        session_id = await a.create()
        path = f"/v1/sessions/{session_id}/messages"
        headers = {"Idempotency-Key": "same"}
        answers = await asyncio.gather(
            *(
                (a, b)[n // 4 % 2].http.post(
                    path,
                    json={"content": "hello" if n % 2 else f"{n}"},
                    headers=headers,
                )
                for n in range(100)
            )
        )
        taken = [answer for answer in answers if answer.status_code == 202]
        assert {answer.status_code for answer in answers} == {202, 422}
        assert len({answer.json()["turnId"] for answer in taken}) == 1
        [message] = [m for m in await a.messages(session_id) if m["role"] == "user"]
        first = taken[0].json()
        posted = Posted(session_id, first["turnId"], first["cursor"])
        seen: list[Event] = []
        await asyncio.wait_for(watch(b, posted, seen), PATIENCE_S)
        await judge(a, posted, seen)
    same = 50 if message["content"] == "hello" else 1
    assert len(taken) == same
    assert len(upstream.requests) == 1


async def test_response_that_is_lost_is_asked_for_again(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(5, 0.0))
    server = site.cluster.web[0]
    with FaultProxy(server.port) as proxy:
        async with (
            Client(f"http://127.0.0.1:{proxy.port}", KEY) as far,
            Client(server.url, KEY) as near,
        ):
            session_id = await far.create()
            proxy.truncate(10)
            path = f"/v1/sessions/{session_id}/messages"
            headers = {"Idempotency-Key": "once"}
            with pytest.raises(Exception, match="disconnected|closed|without"):
                await far.http.post(path, json={"content": "hello"}, headers=headers)
            proxy.heal()
            body = {"content": "hello"}
            again = await far.http.post(path, json=body, headers=headers)
            assert again.status_code == 202
            assert again.headers["idempotency-replayed"] == "true"
            other = await far.http.post(path, json={"content": "x"}, headers=headers)
            assert other.status_code == 422
            posted = Posted(session_id, again.json()["turnId"], again.json()["cursor"])
            seen: list[Event] = []
            await watch(near, posted, seen)
            await judge(near, posted, seen)
    assert len(upstream.requests) == 1


CURSORS = ["x", "1-999", "7-1", "9" * 6000, "-1-0", "1-1-1", "1-²", "NaN"]


async def test_cursor_that_never_was_is_refused(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(3, 0.0))
    async with Client(site.cluster.web[0].url, KEY) as client:
        other = await client.post(await client.create())
        await client.ended(other)
        again = await client.post(other.session_id)
        await client.ended(again)
        posted = await client.post(await client.create())
        await client.ended(posted)
        path = f"/v1/sessions/{posted.session_id}/events"
        # The last one is that of a session which had more turns.
        for cursor in [*CURSORS, f"{again.cursor.split('-')[0]}-3"]:
            headers = {b"Last-Event-ID": cursor.encode()}
            answer = await client.http.get(path, headers=headers)
            assert answer.status_code == 400
            assert answer.json()["error"]["code"] == "bad_cursor"


async def test_cursor_of_a_megabyte_harms_nobody(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(20))
    server = site.cluster.web[0]

    async with Client(server.url, KEY) as client:
        session = Posted(await client.create(), "", "")

    async def act() -> None:
        for _ in range(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            try:
                writer.write(request(server, session, "9" * 2**20))
                await writer.drain()
                answer = await asyncio.wait_for(reader.read(100), 10)
                assert not answer or b" 4" in answer.split(b"\r\n")[0]
            except ConnectionError:
                pass  # cut off while it was writing
            writer.close()

    assert ends(await during(site.cluster, act)) == {"message_completed"}


async def test_reader_that_comes_and_goes_misses_nothing(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(slow_reply(40, 0.05))
    urls = [server.url for server in site.cluster.web]
    async with Client(urls[0], KEY) as a, Client(urls[1], KEY) as b:
        posted = await a.post(await a.create())
        seen: list[Event] = []
        for turn in range(20):
            after = seen[-1].id if seen else posted.cursor
            stream = (a, b)[turn % 2].events(posted.session_id, after)
            async with aclosing(stream) as events:
                async for event in events:
                    if event.id:
                        seen.append(event)
                        break
        await asyncio.wait_for(watch(a, posted, seen), PATIENCE_S)
        await judge(b, posted, seen)
