from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any

from sessions_app.bus import get_bus
from sessions_app.models import Message, Turn
from tests.fakes.asgi import Exchange
from tests.fakes.edge import Live
from tests.fakes.people import BOB_KEY
from tests.fakes.scripted_provider import says

STREAM = {"accept": "text/event-stream"}


def stream_of(
    live: Live, content: str = "hello", **headers: str
) -> AbstractAsyncContextManager[Exchange]:
    return live.client.stream(
        f"{live.path}/messages",
        "POST",
        json={"content": content},
        headers={**STREAM, **{k.replace("_", "-"): v for k, v in headers.items()}},
    )


async def refusal(live: Live, **options: Any) -> tuple[int, str]:
    options.setdefault("json", {"content": "hello"})
    headers = {**STREAM, **options.pop("headers", {})}
    client = options.pop("client", live.client)
    url = options.pop("url", f"{live.path}/messages")
    answer = await client.request("POST", url, headers=headers, **options)
    return answer.status, answer.code


async def test_post_streams_its_turn_and_ends(live: Live) -> None:
    async with stream_of(live) as stream:
        events = await stream.events()
    assert stream.status == 200
    assert events[-1].name == "session.status_idle"
    assert [e.id for e in events] == [f"1-{n}" for n in range(1, 8)]


async def test_accept_is_read_in_any_case_and_company(live: Live) -> None:
    headers = {"accept": "application/json, Text/Event-Stream;q=0.9"}
    async with live.client.stream(
        f"{live.path}/messages", "POST", json={"content": "x"}, headers=headers
    ) as stream:
        assert (await stream.events())[-1].name == "session.status_idle"


async def test_stream_shows_only_its_own_turn(live: Live) -> None:
    go_on = asyncio.Event()
    live.plays([go_on, *says("first")], says("second"))
    await live.post()
    async with stream_of(live) as stream:
        go_on.set()
        events = await stream.events()
    assert {event.id.partition("-")[0] for event in events} == {"2"}
    assert events[-1].name == "session.status_idle"
    assert [e.fields["text"] for e in events if e.name == "agent.message"] == ["second"]


# C33 (2) on the streamed answer
async def test_replayed_post_streams_the_same_turn(live: Live) -> None:
    provider = live.provider
    async with stream_of(live, idempotency_key="k1") as stream:
        first = await stream.events()
    async with stream_of(live, idempotency_key="k1") as stream:
        again = await stream.events()
    assert again == first
    assert ("idempotency-replayed", "true") in stream.headers
    assert len(provider.requests) == 1


async def test_replayed_post_of_expired_turn_gives_its_end(live: Live) -> None:
    async with stream_of(live, idempotency_key="k1") as stream:
        await stream.events()
    get_bus().log._sessions.clear()
    async with stream_of(live, idempotency_key="k1") as stream:
        again = await stream.events()
    assert [event.name for event in again] == ["message_completed"]


async def test_leaving_the_stream_does_not_stop_the_turn(live: Live) -> None:
    go_on = asyncio.Event()
    live.plays([says("Hel")[0], go_on, *says("lo")])
    async with stream_of(live) as stream:
        delta = (await stream.events(last="message_delta"))[-1]
    go_on.set()
    assert (await live.ended(delta.fields["turnId"]))["text"] == "Hello"


# C28: a status, never an empty 200.
async def test_refusals_are_statuses_before_any_stream(live: Live) -> None:
    assert await refusal(live, json={"content": ""}) == (400, "bad_request")
    assert await refusal(live, json={"x": 1}) == (400, "unknown_field")
    assert await refusal(live, json=None, body=[b"{"]) == (400, "bad_request")
    assert await refusal(live, json=["x"]) == (400, "bad_request")
    assert await refusal(live, client=live.client_of(None)) == (401, "unauthorized")
    assert await refusal(live, client=live.client_of(BOB_KEY)) == (404, "not_found")
    assert await refusal(live, url=f"{live.path}/messages?x=1") == (
        400,
        "unknown_field",
    )
    key = {"idempotency-key": "k" * 256}
    assert await refusal(live, headers=key) == (400, "bad_request")


async def test_refused_post_leaves_nothing(live: Live, in_database) -> None:
    await refusal(live, json={"content": "x", "onBusy": "never"})
    await refusal(live, json={"content": "x\x00"})
    assert await in_database(Turn.objects.count) == 0
    assert await in_database(Message.objects.count) == 0


async def test_busy_session_refuses_before_the_stream(live: Live) -> None:
    live.plays([asyncio.Event()])
    running = (await live.post()).json["turnId"]
    body = {"content": "x", "onBusy": "reject"}
    answer = await live.client.request(
        "POST", f"{live.path}/messages", json=body, headers=STREAM
    )
    assert (answer.status, answer.code) == (409, "session_busy")
    assert answer.json["error"]["turnId"] == running
