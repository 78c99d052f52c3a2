from __future__ import annotations

import asyncio

import pytest

from sessions_app.models import Turn
from tests.fakes.edge import Live, People, Rest
from tests.fakes.scripted_provider import says


@pytest.fixture
def url(rest: Rest, people: People) -> str:
    rest("POST", f"{people.path}/messages", {"content": "x"})
    Turn.objects.update(state="completed", terminal_n=5)
    return f"{people.path}/regenerate"


def test_only_its_owner_asks_again(rest: Rest, url: str) -> None:
    assert rest.triple("POST", url, {}) == (202, 404, 401)


def test_nothing_to_answer_again_is_refused(rest: Rest, people: People) -> None:
    answer = rest("POST", f"{people.path}/regenerate", {})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert not Turn.objects.exists()


@pytest.mark.parametrize("body", [{"content": "x"}, {"onBusy": 1}, {"x": 1}])
def test_bad_body_is_refused(rest: Rest, url: str, body) -> None:
    assert rest("POST", url, body).status == 400


def test_busy_session_can_reject(rest: Rest, url: str) -> None:
    rest("POST", url, {})
    assert rest("POST", url, {"onBusy": "reject"}).status == 409


def test_key_of_a_message_is_not_that_of_another_answer(
    rest: Rest, people: People, url: str
) -> None:
    rest("POST", f"{people.path}/messages", {"content": "x"}, idempotency_key="k")
    assert rest("POST", url, {}, idempotency_key="k").status == 422
    first = rest("POST", url, {}, idempotency_key="k2").json
    assert rest("POST", url, {}, idempotency_key="k2").json == first


async def shown(live: Live) -> list[tuple[str, bool]]:
    answer = await live.client.request("GET", f"{live.path}/messages")
    return [
        (row["content"], row.get("superseded", False)) for row in answer.json["data"]
    ]


async def test_older_answer_is_kept_and_superseded(live: Live) -> None:
    provider = live.plays(says("one"), says("two"), says("three"))
    await live.run("hello")
    for _ in range(2):
        posted = await live.client.request("POST", f"{live.path}/regenerate", json={})
        await live.ended(posted.json["turnId"])
    assert await shown(live) == [
        ("hello", False),
        ("one", True),
        ("two", True),
        ("three", False),
    ]
    assert [len(request.messages) for request in provider.requests] == [1, 1, 1]


# Asked while the first answer was still to come, nothing was superseded.
async def test_answers_that_come_meanwhile_are_superseded_too(live: Live) -> None:
    live.plays(says("one"), says("two"), says("three"))
    await live.post("hello")
    for _ in range(2):
        posted = await live.client.request("POST", f"{live.path}/regenerate", json={})
    await live.ended(posted.json["turnId"])
    answers = [superseded for _, superseded in (await shown(live))[1:]]
    assert answers == [True, True, False]


async def test_cancelled_second_answer_keeps_the_first(live: Live) -> None:
    live.plays(says("one"))
    await live.run("hello")
    live.plays([asyncio.Event()])
    posted = await live.client.request("POST", f"{live.path}/regenerate", json={})
    turn_id = posted.json["turnId"]
    await live.client.request("POST", f"{live.path}/turns/{turn_id}/cancel")
    await live.ended(turn_id)
    assert await shown(live) == [("hello", False), ("one", False)]
