"""Messages with files: who may send a long body, and how many are held at once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest

from tests.e2e.conftest import Serve
from tests.e2e.test_limits import MIB, connection, resident_bytes
from tests.fakes.client import Client
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY, SERVER, LiveServer

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

FILES = """
[[agent]]
slug = "files"
route = ["primary/gpt-x"]
attachments = true
"""
LONG = 20 * MIB
HELD = 48 * MIB


@dataclass(frozen=True, slots=True)
class Seen:
    """What a client reads of a refusal."""

    status: int
    head: str
    code: str


@pytest.fixture
def server(serve: Serve, upstream: FakeUpstream) -> LiveServer:
    held = str(HELD)
    return serve(upstream.base_url, FILES, LANTERN_MAX_HELD_BODY_BYTES=held)


async def session_of(server: LiveServer, agent: str = "files") -> str:
    async with Client(server.url, KEY) as client:
        return await client.create(agent=agent)


def head_of(session_id: str, token: str | None, framing: str) -> bytes:
    lines = [
        f"POST /v1/sessions/{session_id}/messages HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        framing,
    ]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    return "\r\n".join([*lines, "", ""]).encode()


async def seen_by(reader: asyncio.StreamReader) -> Seen:
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)).decode()
    body = await asyncio.wait_for(reader.readuntil(b"}}"), 10)
    status = int(head.split(" ")[1])
    return Seen(status, head.lower(), json.loads(body)["error"]["code"])


async def refusal_of_head(server: LiveServer, session_id: str, token: str | None):
    """The answer to a request of which no byte of the body was sent."""
    async with connection(server) as (reader, writer):
        writer.write(head_of(session_id, token, f"Content-Length: {LONG}"))
        return await seen_by(reader)


async def send_whole(server: LiveServer, session_id: str) -> Seen:
    """The answer to a long body with a file that is none, so that no turn begins."""
    start = (
        b'{"content":"x","attachments":[{"name":"a","mediaType":"image/png","data":"'
    )
    end = b'!"}]}'
    async with connection(server) as (reader, writer):
        writer.write(head_of(session_id, KEY, f"Content-Length: {LONG}"))
        writer.write(start)
        answer = asyncio.create_task(seen_by(reader))
        left = LONG - len(start) - len(end)
        try:
            while left and not answer.done():
                piece = min(left, MIB)
                writer.write(b"A" * piece)
                await writer.drain()
                left -= piece
            writer.write(end)
        except ConnectionError:
            pass  # refused, and the answer is read already
        return await answer


@pytest.mark.parametrize("token", ["lk_wrong", "lv_eyJlIjoicGtfc2hvcCJ9:x:y", "x"])
async def test_stranger_is_refused_before_the_body(
    server: LiveServer, token: str
) -> None:
    seen = await refusal_of_head(server, await session_of(server), token)
    assert (seen.status, seen.code) == (401, "unauthorized")
    # Uvicorn reads on, so that the answer is not lost to a reset, and keeps nothing.
    assert ("connection: close" in seen.head) == ("daphne" in SERVER)


async def test_others_have_no_long_bodies(server: LiveServer) -> None:
    nobody = await refusal_of_head(server, await session_of(server), None)
    no_files = await refusal_of_head(server, await session_of(server, "helper"), KEY)
    foreign = await refusal_of_head(server, "sess_none", KEY)
    assert [each.status for each in (nobody, no_files, foreign)] == [413, 413, 404]


async def test_length_that_only_the_end_tells_is_watched(server: LiveServer) -> None:
    session_id = await session_of(server)
    async with connection(server) as (reader, writer):
        how = "Transfer-Encoding: chunked"
        writer.write(head_of(session_id, "lk_wrong", how))
        for _ in range(2):
            writer.write(b"%x\r\n%b\r\n" % (MIB, b"a" * MIB))
        assert (await seen_by(reader)).status == 401


async def test_many_at_once_take_no_more_than_their_room(server: LiveServer) -> None:
    session_id = await session_of(server)
    await send_whole(server, session_id)  # what a first one costs is no growth
    before = peak = resident_bytes(server.pid)
    sending = asyncio.gather(*(send_whole(server, session_id) for _ in range(50)))
    while not sending.done():
        peak = max(peak, resident_bytes(server.pid))
        await asyncio.sleep(0.02)
    seen = await sending
    assert {each.status for each in seen} == {400, 429}
    late = next(each for each in seen if each.status == 429)
    assert late.code == "rate_limited"
    assert "retry-after: 3" in late.head
    assert peak - before < 3 * HELD  # 1,000 MiB were sent
    assert (await send_whole(server, session_id)).status == 400


async def test_body_that_breaks_off_makes_room_again(server: LiveServer) -> None:
    session_id = await session_of(server)
    for _ in range(4):
        async with connection(server) as (_, writer):
            writer.write(head_of(session_id, KEY, f"Content-Length: {LONG}"))
            for _ in range(15):
                writer.write(b" " * MIB)
                await writer.drain()
    await asyncio.sleep(0.5)
    assert (await send_whole(server, session_id)).status == 400
