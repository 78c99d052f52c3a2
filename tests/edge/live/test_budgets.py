from __future__ import annotations

import pytest

from sessions_app.models import Budget, Session, Turn
from sessions_app.store.db import in_thread
from tests.edge.live.conftest import Socket
from tests.fakes.asgi import AsgiClient
from tests.fakes.edge import Live
from tests.fakes.people import ALICE_KEY, BOB_KEY


async def use_up(on: str) -> None:
    await in_thread(Budget.objects.create, on=on, period="month", tokens=0)


# C28: a refusal is a status, not an empty stream
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_used_up_budget_is_402_before_any_stream(live: Live, accept: str) -> None:
    await use_up(f"key:{ALICE_KEY}")
    answer = await live.client.request(
        "POST",
        f"{live.path}/messages",
        json={"content": "hello"},
        headers={"accept": accept},
    )
    assert answer.status == 402
    assert answer.json["error"] | {"requestId": "", "renewsAt": ""} == {
        "code": "budget_exceeded",
        "message": "The budget for this is used up.",
        "requestId": "",
        "budget": f"key:{ALICE_KEY}",
        "period": "month",
        "limitTokens": 0,
        "spentTokens": 0,
        "renewsAt": "",
    }
    assert answer.json["error"]["renewsAt"].endswith("-01T00:00:00Z")
    assert not live.provider.requests


async def test_other_ways_to_a_turn_are_refused_too(live: Live) -> None:
    await live.run()
    await use_up("session")
    answer = await live.client.request("POST", f"{live.path}/regenerate", json={})
    assert (answer.status, answer.code) == (402, "budget_exceeded")
    assert await in_thread(Turn.objects.count) == 1


async def test_budget_of_one_key_leaves_others_alone(live: Live) -> None:
    await use_up(f"key:{BOB_KEY}")
    assert (await live.run())["status"] == "completed"


async def test_socket_is_told_and_stays_open(live: Live, socket: Socket) -> None:
    await use_up("agent:helper")
    refusal = await socket.ask("session.start", prompt="hi", requestId="r1")
    assert (refusal["type"], refusal["code"]) == ("error", "budget_exceeded")
    assert await in_thread(Session.objects.count) == 1  # the one of the fixture
    assert (await socket.ask("ping"))["type"] == "pong"


async def test_same_request_again_is_not_charged_again(live: Live) -> None:
    await in_thread(Budget.objects.create, on="session", period="total", tokens=10_000)
    headers = {"idempotency-key": "k1"}
    client: AsgiClient = live.client
    for _ in range(2):
        answer = await client.request(
            "POST", f"{live.path}/messages", json={"content": "x"}, headers=headers
        )
        assert answer.status == 202
    await live.ended(answer.json["turnId"])
    assert len(live.provider.requests) == 1
