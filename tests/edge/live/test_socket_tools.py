"""Tools over the socket: seed shapes, results together, ownership."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady
from tests.edge.live.conftest import Socket
from tests.fakes.edge import Live
from tests.fakes.scripted_provider import Step, says
from tests.fakes.strict_history import check_history

WEATHER = {
    "name": "weather",
    "description": "Get weather for a city",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
WANTS_TOOLS = FinishPart(StopReason.STOP, is_tool_calls=True)


def asks(*cities: str) -> list[Step]:
    calls = [
        ToolCallReady(f"call_{n}", "weather", {"city": city})
        for n, city in enumerate(cities)
    ]
    return [*calls, WANTS_TOOLS]


async def start(socket: Socket, **fields: Any) -> str:
    fields.setdefault("tools", [WEATHER])
    return await socket.start("Weather?", **fields)


async def waits(socket: Socket) -> list[dict[str, Any]]:
    """The frames up to the state that says that the turn waits."""
    frames = [await socket.read()]
    while frames[-1].get("state") != "awaiting_tools":
        frames.append(await socket.read())
    return frames


# C12: both calls, their arguments and their order; both results in one request.
async def test_parallel_calls_are_answered_together(live: Live, socket: Socket) -> None:
    provider = live.plays(asks("Berlin", "Rome"), says("Sunny"))
    session_id = await start(socket)
    calls = [f for f in await waits(socket) if f["type"] == "tool.call"]
    assert [frame["call"] for frame in calls] == [
        {"id": "call_0", "name": "weather", "arguments": {"city": "Berlin"}},
        {"id": "call_1", "name": "weather", "arguments": {"city": "Rome"}},
    ]
    results = [
        {"id": "call_1", "content": '{"t":30}'},
        {"id": "call_0", "content": "broken", "isError": True},
    ]
    await socket.say("session.tool_results", sessionId=session_id, results=results)
    end = (await socket.until("turn.completed"))[-1]
    assert (end["status"], end["text"]) == ("completed", "Sunny")
    told = [message.content for message in provider.requests[1].messages[-2:]]
    assert told == ["Error: broken", '{"t":30}']


# A client that knows no states answers each call as it sees it.
async def test_answer_to_the_call_itself_is_taken(live: Live, socket: Socket) -> None:
    live.plays(asks("Berlin"), says("Sunny"))
    session_id = await start(socket)
    call = (await socket.until("tool.call"))[-1]["call"]
    results = [{"id": call["id"], "content": "21"}]
    await socket.say("session.tool_results", sessionId=session_id, results=results)
    assert (await socket.until("turn.completed"))[-1]["text"] == "Sunny"


async def test_results_are_answered_with_the_state(live: Live, socket: Socket) -> None:
    live.plays(asks("Berlin"), says("Sunny"))
    session_id = await start(socket)
    await waits(socket)
    results = [{"id": "call_0", "content": "x"}]
    await socket.say(
        "session.tool_results", sessionId=session_id, results=results, requestId="r"
    )
    answer = await socket.read()
    while answer.get("requestId") != "r":
        answer = await socket.read()
    assert (answer["type"], answer["sessionId"]) == ("session.state", session_id)


@pytest.mark.parametrize(
    "results",
    [
        [],
        "x",
        [{"id": "call_0"}],
        [{"id": "call_9", "content": "x"}],
        [{"id": "call_0", "content": "x", "more": 1}],
        [{"id": "call_0", "content": 7}],
        [{"id": "call_0", "content": "x"}] * 2,
    ],
)
async def test_unfit_results_leave_the_turn_waiting(
    live: Live, socket: Socket, results: Any
) -> None:
    live.plays(asks("Berlin"), says("Sunny"))
    session_id = await start(socket)
    await waits(socket)
    fields = {"sessionId": session_id, "results": results}
    assert (await socket.ask("session.tool_results", **fields))["type"] == "error"
    fields["results"] = [{"id": "call_0", "content": "x"}]
    await socket.say("session.tool_results", **fields)
    assert (await socket.until("turn.completed"))[-1]["status"] == "completed"


async def test_other_connection_cannot_answer(live: Live, socket: Socket) -> None:
    live.plays(asks("Berlin"))
    session_id = await start(socket)
    await waits(socket)
    other = await Socket(live).open()
    results = [{"id": "call_0", "content": "x"}]
    answer = await other.ask(
        "session.tool_results", sessionId=session_id, results=results
    )
    assert (answer["type"], answer["code"]) == ("error", "not_found")
    await other.hang_up()


async def test_cancel_while_waiting_ends_the_turn(live: Live, socket: Socket) -> None:
    live.plays(asks("Berlin"))
    session_id = await start(socket)
    await waits(socket)
    await socket.say("session.cancel", sessionId=session_id)
    assert (await socket.until("turn.completed"))[-1]["status"] == "cancelled"


# C35, C37: harmless twice and from elsewhere; the session answers on.
async def test_session_goes_on_after_a_cancelled_wait(
    live: Live, socket: Socket
) -> None:
    provider = live.plays(asks("Berlin", "Rome"), says("Hi"))
    session_id = await start(socket)
    await waits(socket)
    other = await Socket(live).open()
    foreign = await other.ask("session.cancel", sessionId=session_id)
    assert foreign["code"] == "not_found"
    await other.hang_up()
    for _ in range(2):
        await socket.say("session.cancel", sessionId=session_id)
    await socket.until("turn.completed")
    while (await socket.read()).get("state") != "idle":
        pass
    await socket.say("session.prompt", sessionId=session_id, prompt="hello")
    assert (await socket.until("turn.completed"))[-1]["text"] == "Hi"
    check_history(provider.requests[-1].messages)


async def test_hanging_up_while_waiting_ends_the_turn(live: Live) -> None:
    live.plays(asks("Berlin"))
    socket = await Socket(live).open()
    session_id = await start(socket)
    turn_id = (await waits(socket))[-1]["turnId"]
    await socket.hang_up()
    live.path = f"/v1/sessions/{session_id}"
    assert (await live.ended(turn_id))["status"] == "cancelled"


async def test_tools_count_for_later_prompts(live: Live, socket: Socket) -> None:
    provider = live.plays(says("Hi"), asks("Rome"))
    session_id = await start(socket, toolChoice={"type": "auto"})
    await socket.until("turn.completed")
    await socket.say("session.prompt", sessionId=session_id, prompt="And in Rome?")
    await waits(socket)
    assert [tool.name for tool in provider.requests[1].tools] == ["weather"]


async def test_choice_is_passed_on(live: Live, socket: Socket) -> None:
    provider = live.plays(says("Hi"))
    await start(socket, toolChoice={"type": "tool", "name": "weather"})
    await socket.until("turn.completed")
    choice = provider.requests[0].tool_choice
    assert (choice.mode, choice.name) == ("tool", "weather")


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [{"name": "no spaces"}]},
        {"tools": [WEATHER, WEATHER]},
        {"tools": ["weather"]},
        {"toolChoice": "never"},
        {"toolChoice": {"type": "tool"}},
    ],
)
async def test_unfit_tools_start_nothing(socket: Socket, fields: Any) -> None:
    answer = await socket.ask("session.start", prompt="x", **fields)
    assert (answer["type"], answer["code"]) == ("error", "bad_request")
