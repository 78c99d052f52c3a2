"""``raw``: the provider's own messages, to the connection that asked and no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sessions_app.engine import publisher
from sessions_app.models import Provider
from sessions_app.providers.http import close_transports
from sessions_app.providers.raw import MAX_RAW_BYTES, raw_message
from sessions_app.providers.registry import adapter_for
from sessions_app.store.db import in_thread
from tests.edge.live.conftest import Socket
from tests.edge.live.test_socket_tools import WEATHER
from tests.fakes.edge import Live
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.openai_events import DONE, call, calls, event, finish, text
from tests.fakes.people import visitor_token
from widget.models import Embed
from widget.tokens import new_visitor_id

KEY = "swordfish-0123456789"
PLAIN = [text("Hel"), text("lo"), finish(), DONE]


@pytest.fixture
async def upstream(live: Live) -> AsyncIterator[FakeUpstream]:
    """The real adapters, and a provider on a socket behind them."""
    async with FakeUpstream() as upstream:

        def place() -> None:
            Provider.objects.filter(name="primary").update(
                base_url=upstream.base_url, allow_private=True
            )
            primary = Provider.objects.get(name="primary")
            primary.api_key = KEY
            primary.save()

        await in_thread(place)
        live.provider = adapter_for("openai")  # type: ignore[assignment]
        yield upstream
        await close_transports()


def body_of(event_bytes: bytes) -> Any:
    return json.loads(event_bytes.removeprefix(b"data: "))


async def to_idle(socket: Socket) -> list[dict[str, Any]]:
    frames = [await socket.read()]
    while frames[-1].get("state") != "idle":
        frames.append(await socket.read())
    return frames


async def test_deltas_and_end_carry_their_own_events(
    socket: Socket, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply(PLAIN))
    await socket.start(raw=True)
    frames = await socket.until("turn.completed")
    raws = [frame["raw"] for frame in frames if frame["type"] == "output.delta"]
    assert raws == [body_of(PLAIN[0]), body_of(PLAIN[1])]
    assert frames[-1]["raw"] == body_of(PLAIN[2])


async def test_start_counts_for_later_prompts(
    socket: Socket, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply(PLAIN))
    session_id = await socket.start(raw=True)
    await to_idle(socket)
    await socket.say("session.prompt", sessionId=session_id, prompt="again")
    frames = await socket.until("turn.completed")
    assert all("raw" in f for f in frames if f["type"] == "output.delta")


async def test_nobody_gets_what_they_did_not_ask_for(
    live: Live, socket: Socket, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply(PLAIN))
    await socket.start()
    assert all("raw" not in frame for frame in await to_idle(socket))
    session_id = await socket.start(raw=True)
    await socket.until("turn.completed")
    other = await Socket(live).open()
    await other.say("session.attach", sessionId=session_id, after="0-0")
    frames = await other.until("event")
    while frames[-1].get("name") != "session.status_idle":
        frames.append(await other.read())
    assert "choices" not in json.dumps(frames)
    await other.hang_up()
    path = f"/v1/sessions/{session_id}/events?after=0-0"
    async with live.client.stream(path) as stream:
        events = await stream.events(last="session.status_idle")
    assert [e.fields["delta"] for e in events if e.name == "message_delta"]
    assert "choices" not in str([event.fields for event in events])


async def test_whole_answer_stands_beside_its_calls(
    socket: Socket, upstream: FakeUpstream
) -> None:
    entry = {"id": "call_1", "function": {"name": "weather", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [entry]}
    answer = {"id": "x", "choices": [{"message": message, "finish_reason": "stop"}]}
    body = json.dumps(answer).encode()
    upstream.enqueue(
        Reply([body], content_type="application/json"),
        Reply(PLAIN),
    )
    session_id = await socket.start(raw=True, tools=[WEATHER])
    asked = (await socket.until("tool.call"))[-1]
    assert asked["raw"] == answer
    results = [{"id": asked["call"]["id"], "content": "21"}]
    await socket.say("session.tool_results", sessionId=session_id, results=results)
    assert (await socket.until("turn.completed"))[-1]["raw"] == body_of(PLAIN[2])


async def test_streamed_calls_carry_the_event_that_opened_them(
    live: Live, socket: Socket, upstream: FakeUpstream
) -> None:
    def stream_rounds() -> None:
        live.people.agent.stream_last_round = True
        live.people.agent.save()

    await in_thread(stream_rounds)
    first = calls(call("", index=0, id="a", name="weather"))
    second = calls(call("{}", index=1, id="b", name="weather"))
    rest = calls(call("{}", index=0))
    upstream.enqueue(Reply([first, second, rest, finish("tool_calls"), DONE]))
    await socket.start(raw=True, tools=[WEATHER])
    frames = [await socket.read()]
    while frames[-1].get("state") != "awaiting_tools":
        frames.append(await socket.read())
    raws = [frame["raw"] for frame in frames if frame["type"] == "tool.call"]
    assert raws == [body_of(first), body_of(second)]


async def test_visitor_may_not_ask(live: Live) -> None:
    def make() -> str:
        embed = Embed.objects.create(agent=live.people.agent)
        return visitor_token(embed, new_visitor_id())

    visitor = await in_thread(make)
    socket = Socket(live, headers={"authorization": f"Bearer {visitor}"})
    await socket.open()
    answer = await socket.ask("session.start", prompt="hi", raw=True)
    assert (answer["type"], answer["code"]) == ("error", "bad_request")
    await socket.hang_up()


async def test_events_are_left_out_beyond_a_turns_share(
    socket: Socket, upstream: FakeUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(raw_message(PLAIN[0].removeprefix(b"data: "), ""))
    monkeypatch.setattr(publisher, "MAX_RAW_BYTES", size)
    upstream.enqueue(Reply(PLAIN))
    await socket.start(raw=True)
    frames = await socket.until("turn.completed")
    deltas = [frame for frame in frames if frame["type"] == "output.delta"]
    assert ["raw" in frame for frame in deltas] == [True, False]
    assert frames[-1]["text"] == "Hello"


async def test_careless_events_come_out_readable(
    socket: Socket, upstream: FakeUpstream
) -> None:
    choice = {"index": 0, "delta": {"content": "a\x00b"}}
    odd = event({"choices": [choice], "note": f"\ud800 {KEY}", "nan": float("nan")})
    upstream.enqueue(Reply([odd, finish(), DONE]))
    await socket.start(raw=True)
    frames = await socket.until("turn.completed")
    raw = next(frame["raw"] for frame in frames if frame["type"] == "output.delta")
    assert raw["note"] == "\ufffd [key]"
    assert raw["nan"] is None


def test_keys_of_others_are_left_out_too() -> None:
    said = raw_message(b'{"note": "x-api-key: ghp_16C7e42F292c", "see": "a.b"}', "")
    assert json.loads(said) == {"note": "x-api-key: [key]", "see": "a.b"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[1]",
        b"no json",
        b'{"a":"%b"}' % (b"x" * MAX_RAW_BYTES),
        b'{"a":' * 100 + b"1" + b"}" * 100,
    ],
    ids=["nothing", "list", "text", "long", "deep"],
)
def test_what_is_no_fit_object_is_left_out(body: bytes) -> None:
    assert raw_message(body, "") == b""
