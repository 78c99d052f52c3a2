from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sessions_app.store.db import in_thread
from tests.fakes.edge import Live, Rest
from tests.fakes.scripted_provider import says


async def test_queued_turns_run_in_order_of_acceptance(live: Live) -> None:
    go_on = asyncio.Event()
    provider = live.plays([go_on, *says("one")], says("two"), says("three"))
    turns = [(await live.post(text)).json["turnId"] for text in ("a", "b", "c")]
    go_on.set()
    ended = [await live.ended(turn) for turn in turns]
    assert [turn["text"] for turn in ended] == ["one", "two", "three"]
    assert [r.messages[-1].content for r in provider.requests] == ["a", "b", "c"]


async def test_interrupt_stops_the_running_turn_first(live: Live) -> None:
    provider = live.plays([says("Hel")[0], asyncio.Event()], says("new"))
    first = (await live.post("a")).json["turnId"]
    async with live.client.stream(f"{live.path}/events?after=1-0") as stream:
        await stream.events("message_delta")
        second = (await live.post("b", onBusy="interrupt")).json["turnId"]
        await stream.events("session.status_idle")
    ended = [await live.ended(turn) for turn in (first, second)]
    assert [(t["status"], t["text"]) for t in ended] == [
        ("cancelled", "Hel"),
        ("completed", "new"),
    ]
    assert provider.was_closed == 1


# The first turn may still wait for its claim when the second message comes.
async def test_interrupt_reaches_a_turn_that_has_not_begun(live: Live) -> None:
    live.plays([asyncio.Event()])
    first = (await live.post("a")).json["turnId"]
    second = (await live.post("b", onBusy="interrupt")).json["turnId"]
    assert (await live.ended(first))["status"] == "cancelled"
    await live.client.request("POST", f"{live.path}/turns/{second}/cancel")
    await live.ended(second)


async def test_cancelled_turn_in_the_queue_is_never_asked(live: Live) -> None:
    go_on = asyncio.Event()
    provider = live.plays([go_on, *says("one")], says("never"))
    await live.post("a")
    second = (await live.post("b")).json["turnId"]
    url = f"{live.path}/turns/{second}/cancel"
    assert (await live.client.request("POST", url)).status == 202
    go_on.set()
    assert (await live.ended(second))["status"] == "cancelled"
    assert len(provider.requests) == 1


# C35: within a second, by REST, and twice does no harm
async def test_cancel_stops_the_provider(live: Live) -> None:
    provider = live.plays([says("Hel")[0], asyncio.Event()])
    turn = (await live.post()).json["turnId"]
    async with live.client.stream(f"{live.path}/events?after=1-0") as stream:
        await stream.events("message_delta")
        for _ in range(2):
            await live.client.request("POST", f"{live.path}/turns/{turn}/cancel")
        end = await stream.events("session.status_idle")
    assert end[0].name == "message_completed"
    assert end[0].fields["stopReason"] == "cancelled"
    assert [event.name for event in end].count("message_completed") == 1
    assert provider.was_closed == 1


BODIES: list[Any] = [
    {"content": "x"},
    {"content": ""},
    {"content": 7},
    {"content": "x" * 100_001},
    {"content": "x", "role": "system"},
    {"content": "x", "onBusy": "never"},
    {"content": "x", "clientTools": [{}]},
    {},
    [],
]


# A message goes past Django with a token, and through it with a cookie.
@pytest.mark.parametrize("body", BODIES, ids=str)
async def test_both_doors_answer_alike(live: Live, body: Any) -> None:
    url = f"{live.path}/messages"
    ahead = await live.client.request("POST", url, json=body)
    behind = await in_thread(Rest(), "POST", url, body)
    assert ahead.status == behind.status
    if ahead.status == 202:
        assert set(ahead.json) == set(behind.json)
    else:
        errors = [answer.json["error"] for answer in (ahead, behind)]
        assert {**errors[0], "requestId": ""} == {**errors[1], "requestId": ""}
