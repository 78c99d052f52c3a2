from __future__ import annotations

import asyncio

import pytest

from sessions_app.models import Session, Turn
from tests.edge.live.conftest import Socket
from tests.fakes.edge import Live
from tests.fakes.people import make_session
from tests.fakes.scripted_provider import says
from tests.fakes.waiting import until


async def test_hello_names_what_may_be_started(socket: Socket) -> None:
    assert socket.hello == {
        "type": "hello",
        "protocol": "lantern.v1",
        "agents": ["helper"],
        "providers": ["backup", "primary"],
        "models": ["primary/gpt-x", "backup/claude-y"],
    }


async def test_started_session_streams_its_turn(socket: Socket) -> None:
    started = await socket.ask("session.start", prompt="hi", requestId="r1")
    session_id = started["session"]["id"]
    frames = [*await socket.until("turn.completed"), await socket.read()]
    assert started["requestId"] == "r1"
    assert started["session"]["state"] == "running"
    assert [f["type"] for f in frames] == [
        "session.state",
        "turn.started",
        "output.delta",
        "output.delta",
        "turn.completed",
        "session.state",
    ]
    assert {f["sessionId"] for f in frames} == {session_id}
    assert [f["seq"] for f in frames[2:4]] == [1, 2]
    assert (frames[4]["status"], frames[4]["text"]) == ("completed", "Hello")
    assert (frames[0]["state"], frames[5]["state"]) == ("running", "idle")


async def test_prompt_echoes_its_request_every_time(socket: Socket) -> None:
    session_id = await socket.start()
    await socket.until("turn.completed")
    for number in range(20):
        request_id = f"r{number}"
        await socket.say(
            "session.prompt", sessionId=session_id, prompt="x", requestId=request_id
        )
        started = (await socket.until("turn.started"))[-1]
        assert started["requestId"] == request_id
        await socket.until("turn.completed")


async def test_failed_turn_says_why(live: Live, socket: Socket) -> None:
    live.plays([ValueError("not for clients")])
    await socket.start()
    end = (await socket.until("turn.completed"))[-1]
    assert (end["status"], end["error"]["code"]) == ("failed", "internal")
    assert "not for clients" not in str(end)


# C35
async def test_cancel_stops_the_provider(live: Live, socket: Socket) -> None:
    provider = live.plays([says("Hel")[0], asyncio.Event()])
    session_id = await socket.start()
    await socket.until("output.delta")
    await socket.say("session.cancel", sessionId=session_id, requestId="c")
    frames = [await socket.read() for _ in range(3)]
    end = next(f for f in frames if f["type"] == "turn.completed")
    assert [f["requestId"] for f in frames if "requestId" in f] == ["c"]
    assert (end["status"], end["text"]) == ("cancelled", "Hel")
    assert provider.was_closed == 1


async def test_cancel_after_the_end_is_harmless(socket: Socket) -> None:
    session_id = await socket.start()
    await socket.until("turn.completed")
    await socket.read()
    answer = await socket.ask("session.cancel", sessionId=session_id, requestId="c")
    assert (answer["type"], answer["state"]) == ("session.state", "idle")


async def test_prompt_while_busy_is_refused(live: Live, socket: Socket) -> None:
    live.plays([says("Hel")[0], asyncio.Event()])
    session_id = await socket.start()
    await socket.until("output.delta")
    answer = await socket.ask(
        "session.prompt", sessionId=session_id, prompt="x", requestId="r"
    )
    assert (answer["code"], answer["requestId"]) == ("session_busy", "r")


async def test_close_ends_the_turn_and_frees_the_place(
    live: Live, socket: Socket
) -> None:
    live.plays([says("Hel")[0], asyncio.Event()])
    session_id = await socket.start()
    await socket.until("output.delta")
    await socket.say("session.close", sessionId=session_id, requestId="c")
    frames = {f["type"]: f for f in [await socket.read() for _ in range(2)]}
    assert frames["turn.completed"]["status"] == "cancelled"
    assert frames["session.state"]["state"] == "closed"
    assert frames["session.state"]["requestId"] == "c"
    again = await socket.ask("session.prompt", sessionId=session_id, prompt="x")
    assert again["code"] == "not_found"


# A closed session gave its place back only with the connection: 32 starts were all.
async def test_closed_sessions_do_not_count(socket: Socket) -> None:
    for _ in range(40):
        session_id = await socket.start()
        await socket.until("turn.completed")
        await socket.say("session.close", sessionId=session_id)
        while (await socket.read()).get("state") != "closed":
            pass


async def test_too_many_sessions_are_refused(live: Live, socket: Socket) -> None:
    for _ in range(32):
        await socket.start()
        await socket.until("turn.completed")
        await socket.read()
    answer = await socket.ask("session.start", prompt="x")
    assert answer["code"] == "bad_request"


async def test_hang_up_cancels_and_closes(live: Live, in_database) -> None:
    provider = live.plays([says("Hel")[0], asyncio.Event()])
    socket = await Socket(live).open()
    session_id = await socket.start()
    await socket.until("output.delta")
    await socket.hang_up()
    session = await in_database(Session.objects.get, pk=session_id)
    await until(lambda: provider.was_closed)
    assert session.is_closed


async def test_hang_up_leaves_no_task_behind(live: Live) -> None:
    await live.client.request("GET", "/health")
    before = len(asyncio.all_tasks())
    for _ in range(5):
        socket = await Socket(live).open()
        await socket.start()
        await socket.until("turn.completed")
        await socket.hang_up()
    assert len(asyncio.all_tasks()) <= before + 1


async def test_attach_replays_and_follows(live: Live, socket: Socket) -> None:
    await live.run()
    session_id = live.people.session.pk
    state = await socket.ask(
        "session.attach", sessionId=session_id, after="1-4", requestId="a"
    )
    frames = [await socket.read() for _ in range(3)]
    await live.post()
    following = await socket.read()
    assert (state["state"], state["requestId"]) == ("idle", "a")
    assert [f["id"] for f in frames] == ["1-5", "1-6", "1-7"]
    assert (frames[0]["name"], frames[0]["data"]["text"]) == (
        "message_completed",
        "Hello",
    )
    assert following["id"] == "2-1"


async def test_attach_twice_or_with_bad_cursor_is_refused(
    live: Live, socket: Socket
) -> None:
    session_id = live.people.session.pk
    bad = await socket.ask("session.attach", sessionId=session_id, after="9-9")
    assert bad["code"] == "bad_cursor"
    await socket.ask("session.attach", sessionId=session_id)
    again = await socket.ask("session.attach", sessionId=session_id)
    assert again["code"] == "bad_request"


async def test_attached_session_outlives_the_socket(live: Live, in_database) -> None:
    socket = await Socket(live).open()
    await socket.ask("session.attach", sessionId=live.people.session.pk)
    await socket.hang_up()
    session = await in_database(Session.objects.get, pk=live.people.session.pk)
    assert not session.is_closed


# C67: the same answer for a foreign session as for none, and the socket stays open.
@pytest.mark.parametrize("kind", ["attach", "prompt", "cancel", "close"])
async def test_foreign_session_is_not_found(
    live: Live, socket: Socket, in_database, kind: str
) -> None:
    foreign = await in_database(make_session, live.people.agent, "key:999")
    fields = {"prompt": "x"} if kind == "prompt" else {}
    for session_id in (foreign.pk, "sess_none", "", "x" * 1000):
        answer = await socket.ask(f"session.{kind}", sessionId=session_id, **fields)
        assert (answer["type"], answer["code"]) == ("error", "not_found")
    assert (await socket.ask("ping", requestId="p")) == {
        "type": "pong",
        "requestId": "p",
    }


async def test_key_may_name_a_model_of_its_agents_only(
    live: Live, socket: Socket, in_database
) -> None:
    await socket.start(provider="primary", model="anything")
    await socket.until("turn.completed")
    assert live.provider.requests[0].model == "anything"
    live.people.alice.agents = ["helper"]
    await in_database(live.people.alice.save)
    bound = await Socket(live).open()
    refused = await bound.ask("session.start", prompt="x", model="primary/other")
    assert refused["code"] == "bad_request"
    await bound.start(model="gpt-x")
    await bound.hang_up()


async def test_prompt_that_is_refused_leaves_no_session(
    socket: Socket, in_database
) -> None:
    before = await in_database(Session.objects.count)
    for fields in (
        {"prompt": " "},
        {"prompt": "x", "provider": "primary", "model": ""},
    ):
        answer = await socket.ask("session.start", **fields)
        assert answer["code"] == "bad_request"
    assert await in_database(Session.objects.count) == before
    assert await in_database(Turn.objects.count) == 0
