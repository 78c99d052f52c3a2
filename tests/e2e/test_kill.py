"""The server dies in the middle of a turn, and is started again (case C34)."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.fakes.client import Client, Event, Posted, check_turn, deltas
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import LiveServer
from tests.fakes.openai_events import DONE, finish, text
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(60)]

AFTER_BOOT_S = 2.0
ANSWER = Reply([text("Hel"), text("lo"), finish(), DONE])
THREE = [text("one "), text("two "), text("three ")]


async def killed_after_three(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> tuple[Posted, list[Event]]:
    """A turn whose server was killed after its third delta, and what was seen."""
    upstream.enqueue(Reply([*THREE, HOLD]), ANSWER)
    posted = await client.post(await client.create())
    seen = await client.first("message_delta", posted, 3)
    server.kill()
    await asyncio.to_thread(server.start)
    return posted, [event for event in seen if event.id]


async def test_reader_of_killed_turn_gets_error(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    posted, seen = await killed_after_three(server, client, upstream)
    booted = time.monotonic()
    rest = await client.until_idle(posted, after=seen[-1].id)
    assert time.monotonic() - booted < AFTER_BOOT_S
    error = rest[0]
    assert error.kind == "message_error"
    assert error.data["code"] == "worker_lost"
    assert error.data["turnId"] == posted.turn_id
    assert [event.kind for event in rest[1:]] == ["session.status_idle"]


async def test_session_of_killed_turn_goes_on(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    killed, _ = await killed_after_three(server, client, upstream)
    posted = await client.post(killed.session_id, "again")
    events = await client.until_idle(posted)
    check_turn(events)
    assert "".join(deltas(events)) == "Hello"
    # The partial text is void: no later prompt holds it.
    sent = upstream.requests[-1].json["messages"]
    assert not any("three" in message["content"] for message in sent)


async def test_no_turn_runs_after_boot(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    posted, _ = await killed_after_three(server, client, upstream)
    turn = await client.ended(posted, AFTER_BOOT_S)
    assert turn["status"] == "failed"
    assert turn["error"]["code"] == "worker_lost"
    session = await client.get(f"/v1/sessions/{posted.session_id}")
    assert session["status"] == "idle"


async def test_turn_killed_before_text_runs_again(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([HOLD]), ANSWER)
    posted = await client.post(await client.create())
    await until(lambda: upstream.requests)
    server.kill()
    await asyncio.to_thread(server.start)
    events = await client.until_idle(posted)
    check_turn(events)
    assert "".join(deltas(events)) == "Hello"
    keys = [request.headers["idempotency-key"] for request in upstream.requests]
    assert len(keys) == 2
    assert keys[0] == keys[1]


async def test_reader_of_ended_turn_gets_it_after_kill(
    server: LiveServer, client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(ANSWER)
    posted = await client.post(await client.create())
    before = await client.until_idle(posted)
    server.kill()
    await asyncio.to_thread(server.start)
    after = await client.first("message_completed", posted)
    completed = [event for event in before if event.kind == "message_completed"]
    assert [event for event in after if event.id] == completed
