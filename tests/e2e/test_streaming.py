"""Tokens leave as they come, turns outlive their readers, and ends are prompt."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

import pytest

from tests.e2e.conftest import Serve
from tests.fakes.client import Client, check_turn, deltas
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, finish, text, usage

pytestmark = [pytest.mark.live, pytest.mark.timeout(60)]

HELLO = Reply([text("Hel"), text("lo"), finish(), usage(3, 2), DONE])


async def test_cancel_closes_provider_within_a_second(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("some "), text("text"), HOLD]))
    posted = await client.post(await client.create())
    await client.first("message_delta", posted, 2)
    await client.cancel(posted)
    assert await upstream.requests[0].wait_hung_up(1.0) < 1.0
    events = await client.until_idle(posted)
    check_turn(events)
    completed = next(e for e in events if e.kind == "message_completed")
    assert completed.data["text"] == "some text"
    assert completed.data["stopReason"] == "cancelled"
    assert (await client.turn(posted))["status"] == "cancelled"


async def test_turn_outlives_its_listeners(
    client: Client, upstream: FakeUpstream
) -> None:
    words = [f"{number} " for number in range(40)]
    steps = [step for word in words for step in (text(word), 0.01)]
    upstream.enqueue(Reply([*steps, finish(), DONE]))
    posted = await client.post(await client.create())
    seen = await client.first("message_delta", posted, 3)
    turn = await client.ended(posted)
    assert turn["text"] == "".join(words)
    rest = await client.until_idle(posted, after=seen[-1].id)
    check_turn([event for event in seen if event.id] + rest)


async def test_first_delta_leaves_before_the_last_comes(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("first"), 1.0, text("last"), finish(), DONE]))
    posted = await client.post(await client.create())
    reader, writer = await asyncio.open_connection(
        client.http.base_url.host, client.http.base_url.port
    )
    path = f"/v1/sessions/{posted.session_id}/events?after={posted.cursor}"
    headers = f"Host: localhost\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    writer.write(f"GET {path} HTTP/1.1\r\n{headers}".encode())
    begin = time.monotonic()
    await reader.readuntil(b'"delta":"first"')
    assert time.monotonic() - begin < 0.5
    assert (await client.turn(posted))["status"] == "running"
    await reader.readuntil(b'"delta":"last"')
    writer.close()
    await writer.wait_closed()


async def test_silence_is_filled_with_heartbeats(
    serve: Serve, upstream: FakeUpstream
) -> None:
    server = serve(upstream.base_url, LANTERN_HEARTBEAT_S="1")
    upstream.enqueue(Reply([text("Hel"), 6.0, text("lo"), finish(), DONE]))
    async with Client(server.url, KEY) as client:
        posted = await client.post(await client.create())
        async with aclosing(client.events(posted.session_id, posted.cursor)) as stream:
            events = []
            async for event in stream:
                events.append(event)
                if event.kind == "session.status_idle":
                    break
    beats = [event for event in events if event.data == "heartbeat"]
    assert 3 <= len(beats) <= 7
    assert not any(beat.id for beat in beats)
    assert "".join(deltas(events)) == "Hello"


async def test_silent_provider_ends_turn_in_time(
    serve: Serve, upstream: FakeUpstream
) -> None:
    limits = '\n[[provider]]\nname = "primary"\nkind = "openai"\nidle_timeout_s = 1\n'
    server = serve(upstream.base_url)
    server.provision(f'{limits}base_url = "{upstream.base_url}"')
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    async with Client(server.url, KEY) as client:
        posted = await client.post(await client.create())
        begin = time.monotonic()
        events = await client.until_idle(posted)
        assert time.monotonic() - begin < 4
    errors = [event.data["code"] for event in events if event.kind == "message_error"]
    assert errors == ["provider_timeout"]
    assert await upstream.requests[0].wait_hung_up(1.0) < 1.0


async def test_completed_text_is_stored_already(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(HELLO)
    session_id = await client.create()
    for number in range(100):
        posted = await client.post(session_id, f"question {number}")
        await client.first("message_completed", posted)
        path = f"/v1/sessions/{session_id}/turns/{posted.turn_id}"
        answer, turn = await asyncio.gather(
            client.get(f"/v1/sessions/{session_id}/messages?limit=100"),
            client.get(path),
        )
        assert turn["text"] == "Hello"
        if number < 50:  # one page holds a hundred messages
            assert answer["data"][-1]["content"] == "Hello"
            assert answer["data"][-1]["turnId"] == posted.turn_id


async def test_messages_while_busy_queue_in_order(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([text("a"), 0.3, text("b"), finish(), DONE]))
    session_id = await client.create()
    posts = [await client.post(session_id, str(number)) for number in range(4)]
    for posted in posts:
        turn = await client.ended(posted)
        assert turn["text"] == "ab"
    asked = [request.json["messages"][-1]["content"] for request in upstream.requests]
    assert asked == ["0", "1", "2", "3"]
