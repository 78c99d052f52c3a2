from __future__ import annotations

import asyncio

from sessions_app.bus import get_bus, memory
from tests.fakes.edge import Live
from tests.fakes.people import BOB_KEY
from tests.fakes.scripted_provider import says
from tests.fakes.waiting import until

TURN = [
    "session.status_running",
    "turn_started",
    "message_delta",
    "message_delta",
    "message_completed",
    "agent.message",
    "session.status_idle",
]


async def test_headers_are_those_of_an_unbuffered_stream(live: Live) -> None:
    async with live.client.stream(f"{live.path}/events") as stream:
        headers = dict(stream.headers)
    assert stream.status == 200
    assert headers["content-type"] == "text/event-stream"
    assert headers["cache-control"] == "no-store, no-transform"
    assert headers["x-accel-buffering"] == "no"
    assert headers["referrer-policy"] == "no-referrer"
    assert "content-encoding" not in headers  # C24


async def test_first_bytes_come_at_once(live: Live) -> None:
    async with live.client.stream(f"{live.path}/events") as stream:
        assert await stream.read() == b": open\n\n"


async def test_turn_streams_whole_and_numbered(live: Live) -> None:
    async with live.client.stream(f"{live.path}/events") as stream:
        posted = (await live.post()).json
        events = await stream.events(last="session.status_idle")
    assert [event.name for event in events] == TURN
    assert [event.id for event in events] == [f"1-{n}" for n in range(1, 8)]
    turns = {e.fields["turnId"] for e in events if "turnId" in e.fields}
    assert turns == {posted["turnId"]}
    assert not any("_event" in event.fields for event in events)


# C30 (1): the stream is opened after the turn has ended.
async def test_cursor_of_post_gives_whole_turn_later(live: Live) -> None:
    posted = (await live.post()).json
    await live.ended(posted["turnId"])
    url = f"{live.path}/events?after={posted['cursor']}"
    async with live.client.stream(url) as stream:
        events = await stream.events(last="session.status_idle")
    assert [event.name for event in events] == TURN


async def test_without_cursor_stream_begins_at_running_turn(live: Live) -> None:
    go_on = asyncio.Event()
    await live.run()
    script = says("one", "two")
    live.plays([script[0], go_on, *script[1:]])
    await live.post()
    async with live.client.stream(f"{live.path}/events?after=2-2") as stream:
        await stream.events(count=1)
    async with live.client.stream(f"{live.path}/events") as stream:
        first = await stream.events(count=3)
        go_on.set()
        await stream.events(last="session.status_idle")
    assert [event.id for event in first] == ["2-1", "2-2", "2-3"]


async def test_without_cursor_ended_turns_are_not_told(live: Live) -> None:
    await live.run()
    async with live.client.stream(f"{live.path}/events") as stream:
        await live.post()
        assert (await stream.events(count=1))[0].id == "2-1"


async def test_silence_is_filled_by_heartbeats(
    live: Live, settings, monkeypatch
) -> None:
    monkeypatch.setattr(memory, "TICK_S", 0.01)
    settings.LANTERN = {"heartbeat_s": 0.02}
    async with live.client.stream(f"{live.path}/events") as stream:
        comments = [(await stream.frame()).comment for _ in range(3)]
    assert comments == ["open", "heartbeat", "heartbeat"]


# C36 (5), C38
async def test_hang_up_leaves_no_reader_behind(live: Live) -> None:
    await live.client.request("GET", "/health")
    await asyncio.sleep(0)
    before = len(asyncio.all_tasks())
    for _ in range(20):
        async with live.client.stream(f"{live.path}/events") as stream:
            await stream.frame()
    bell = get_bus().bell
    assert not bell.has_readers(live.people.session.pk)
    # The bell's own ticker, once the last look into the database is done.
    await until(lambda: len(asyncio.all_tasks()) <= before + 1)


# C36 (1)
async def test_turn_outlives_its_listeners(live: Live) -> None:
    go_on = asyncio.Event()
    live.plays([says("Hel")[0], go_on, *says("lo")])
    posted = (await live.post()).json
    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.events(last="message_delta")
    go_on.set()
    assert (await live.ended(posted["turnId"]))["text"] == "Hello"


async def test_deletion_ends_open_streams(live: Live) -> None:
    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.frame()
        answer = await live.client.request("DELETE", live.path)
        assert await stream.events() == []
    assert answer.status == 204
    assert stream.is_ended


async def test_deletion_ends_the_running_turn_first(live: Live) -> None:
    provider = live.plays([*says("Hel")[:1], asyncio.Event()])
    await live.post()
    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.events(last="message_delta")
        assert (await live.client.request("DELETE", live.path)).status == 204
        rest = await stream.events()
    assert provider.was_closed == 1
    assert rest[0].name == "message_completed"
    assert rest[0].fields["stopReason"] == "cancelled"


# C67
async def test_stranger_and_nobody_are_refused_before_the_stream(live: Live) -> None:
    url = f"{live.path}/events"
    stranger = await live.client_of(BOB_KEY).request("GET", url)
    unknown = await live.client.request("GET", "/v1/sessions/sess_none/events")
    nobody = await live.client_of(None).request("GET", url)
    assert (stranger.status, stranger.code) == (404, "not_found")
    assert unknown.json["error"]["message"] == stranger.json["error"]["message"]
    assert (nobody.status, nobody.code) == (401, "unauthorized")


async def test_key_in_the_url_is_no_credential(live: Live) -> None:
    nobody = live.client_of(None)
    for name in ("token", "key", "ticket"):
        url = f"{live.path}/events?{name}=lk_alice"
        assert (await nobody.request("GET", url)).status in (400, 401)


async def test_other_methods_are_refused(live: Live) -> None:
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
        answer = await live.client.request(method, f"{live.path}/events")
        assert answer.status == 405
        assert answer.header("allow") == "GET"
