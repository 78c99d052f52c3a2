from __future__ import annotations

import pytest

from sessions_app.bus import get_bus
from sessions_app.edge.live import tail
from sessions_app.models import Session, Turn
from sessions_app.store import replay
from tests.fakes.edge import Live
from tests.fakes.people import make_session
from tests.fakes.scripted_provider import says

ANY = "Last-Event-ID"
STATUS_IDLE = "session.status_idle"


async def ids_after(live: Live, cursor: str, last: str = "2-7") -> list[str]:
    found = []
    headers = {ANY: cursor}
    async with live.client.stream(f"{live.path}/events", headers=headers) as stream:
        while not found or found[-1] != last:
            found += [event.id for event in await stream.events(count=1)]
    return found


# C31: two turns, dropped in the second one.
async def test_resume_gives_only_what_is_missing(live: Live) -> None:
    await live.run()
    await live.run()
    assert await ids_after(live, "2-3") == ["2-4", "2-5", "2-6", "2-7"]
    assert await ids_after(live, "2-3") == ["2-4", "2-5", "2-6", "2-7"]
    assert (await ids_after(live, "1-5"))[:3] == ["1-6", "1-7", "2-1"]


async def test_start_cursor_tells_everything(live: Live) -> None:
    await live.run()
    assert await ids_after(live, "0-0", "1-7") == [f"1-{n}" for n in range(1, 8)]


# EventSource repeats its URL: the header is newer than ?after=.
async def test_header_beats_query(live: Live) -> None:
    await live.run()
    url = f"{live.path}/events?after=1-0"
    async with live.client.stream(url, headers={ANY: "1-6"}) as stream:
        assert [event.id for event in await stream.events(count=1)] == ["1-7"]


@pytest.mark.parametrize(
    "cursor",
    ["", "7", "-1", "1-", "1-8", "2-0", "9-9", "01-1", "1-1 ", "٣-٣", "1-99999999999"],
)
async def test_cursor_that_never_was_is_refused(live: Live, cursor: str) -> None:
    await live.run()
    text = cursor.encode().decode("latin-1")
    answer = await live.client.request(
        "GET", f"{live.path}/events", headers={ANY: text}
    )
    assert (answer.status, answer.code) == (400, "bad_cursor")


async def test_huge_cursor_is_refused(live: Live) -> None:
    headers = {ANY: "1" * 1_000_000}
    answer = await live.client.request("GET", f"{live.path}/events", headers=headers)
    assert (answer.status, answer.code) == (400, "bad_cursor")


async def test_cursor_of_another_session_is_refused(live: Live, in_database) -> None:
    await live.run()
    owner = live.people.session.owner
    other = await in_database(make_session, live.people.agent, owner)
    url = f"/v1/sessions/{other.pk}/events"
    answer = await live.client.request("GET", url, headers={ANY: "1-3"})
    assert (answer.status, answer.code) == (400, "bad_cursor")


async def test_unknown_parameter_is_refused(live: Live) -> None:
    for query in ("since=1", "after=1-0&after[]=2", "&".join(["a=1"] * 50), "%ff=1"):
        answer = await live.client.request("GET", f"{live.path}/events?{query}")
        assert answer.status == 400


# C31: "Redis flushed between"; here the process forgot its log.
async def test_expired_turn_is_told_by_its_end_alone(live: Live) -> None:
    await live.run()
    get_bus().log._sessions.clear()
    url = f"{live.path}/events?after=1-0"
    async with live.client.stream(url) as stream:
        told = await stream.events(count=1)
        await live.post()
        following = await stream.events(count=1)
    assert [(e.id, e.name) for e in told] == [("1-5", "message_completed")]
    assert told[0].fields["text"] == "Hello"
    assert following[0].id == "2-1"


async def test_reader_of_an_expired_end_is_told_nothing_twice(live: Live) -> None:
    await live.run()
    get_bus().log._sessions.clear()
    async with live.client.stream(f"{live.path}/events?after=1-5") as stream:
        await live.post()
        assert (await stream.events(count=1))[0].id == "2-1"


# A reader of a long past is told of it piece by piece, not out of one query.
async def test_long_past_is_told_in_order(live: Live, in_database) -> None:
    past = 2 * replay.BATCH + 5
    await in_database(_ended_turns, live.people.session, past)
    async with live.client.stream(f"{live.path}/events?after=0-0") as stream:
        told = await stream.events(count=past)
        await live.post()
        following = await stream.events(count=1)
    assert [event.id for event in told] == [f"{n}-3" for n in range(1, past + 1)]
    assert following[0].id == f"{past + 1}-1"


def _ended_turns(session: Session, count: int) -> None:
    Turn.objects.bulk_create(
        Turn(session=session, ordinal=n, state="completed", terminal_n=3)
        for n in range(1, count + 1)
    )
    Session.objects.filter(pk=session.pk).update(last_ordinal=count)


# C38: streams hold no database connection, so more of them than threads may be open.
async def test_streams_outnumber_database_threads(live: Live, settings) -> None:
    streams = [live.client.exchange("GET", f"{live.path}/events") for _ in range(50)]
    for stream in streams:
        await stream.start()
    await live.post()
    ends = [await s.events(STATUS_IDLE) for s in streams]
    for stream in streams:
        await stream.hang_up()
    assert all(len(end) == 7 for end in ends)


# C31, C36: connection after connection, at any point of a running turn.
async def test_many_reconnects_lose_and_repeat_nothing(live: Live) -> None:
    steps = [says(str(n))[0] for n in range(60)]
    live.plays([s for step in steps for s in (step, 0.001)] + says("end")[1:])
    cursor = (await live.post()).json["cursor"]
    seen: list[str] = []
    while not seen or seen[-1] != "1-65":
        url = f"{live.path}/events?after={cursor}"
        async with live.client.stream(url) as stream:
            found = await stream.events(STATUS_IDLE, count=1 + len(seen) % 5)
        seen += [event.id for event in found]
        cursor = seen[-1]
    assert seen == [f"1-{n}" for n in range(1, 66)]


# The turn ran from its beginning to its end while the reader's first query waited for
# a thread: the reader was told of its end and of none of its words.
async def test_turn_that_runs_while_a_reader_begins_is_told_whole(
    live: Live, monkeypatch
) -> None:
    look_up = tail._from_database

    async def look_up_late(*args):
        await live.run()
        return await look_up(*args)

    monkeypatch.setattr(tail, "_from_database", look_up_late)
    async with live.client.stream(f"{live.path}/events") as stream:
        events = await stream.events(STATUS_IDLE)
    assert [event.id for event in events] == [f"1-{n}" for n in range(1, 8)]
