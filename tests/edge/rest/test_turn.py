from __future__ import annotations

from decimal import Decimal

import pytest

from sessions_app.models import Attempt, Message, Turn
from tests.fakes.edge import People, Rest
from tests.fakes.people import make_session


def make_turn(people: People, **fields) -> Turn:
    fields = {"state": "completed", "ordinal": 1, "terminal_n": 5, **fields}
    turn = Turn.objects.create(session=people.session, **fields)
    Message.objects.create(
        session=people.session,
        turn=turn,
        ordinal=turn.ordinal,
        position=1,
        role="assistant",
        content="Hello",
    )
    return turn


@pytest.fixture
def turn(people: People) -> Turn:
    return make_turn(people, cost_usd=Decimal("0.000000000100"), tokens_in=7)


@pytest.fixture
def url(people: People, turn: Turn) -> str:
    return f"{people.path}/turns/{turn.pk}"


def test_only_its_owner_reads_a_turn(rest: Rest, url: str) -> None:
    assert rest.triple("GET", url) == (200, 404, 401)


def test_only_its_owner_cancels_a_turn(rest: Rest, url: str) -> None:
    assert rest.triple("POST", f"{url}/cancel", {}) == (202, 404, 401)


def test_only_its_owner_rates_a_turn(rest: Rest, url: str) -> None:
    body = {"rating": "up"}
    assert rest.triple("POST", f"{url}/feedback", body) == (200, 404, 401)


def test_turn_shows_text_usage_and_attempts(rest: Rest, turn: Turn, url: str) -> None:
    Attempt.objects.create(
        turn=turn, number=1, round=1, provider="primary", model="m", status="completed"
    )
    shown = rest("GET", url).json
    assert (shown["status"], shown["text"], shown["rounds"]) == (
        "completed",
        "Hello",
        1,
    )
    assert shown["attempts"][0]["provider"] == "primary"
    assert (shown["usage"]["tokensIn"], shown["usage"]["costUsd"]) == (7, 1e-10)


def test_price_that_is_not_known_is_null(rest: Rest, people: People) -> None:
    turn = make_turn(people, ordinal=2, cost_usd=None)
    shown = rest("GET", f"{people.path}/turns/{turn.pk}").json
    assert shown["usage"]["costUsd"] is None


def test_failed_turn_shows_its_error_and_no_text(rest: Rest, people: People) -> None:
    turn = Turn.objects.create(
        session=people.session, ordinal=2, state="failed", error_code="internal"
    )
    shown = rest("GET", f"{people.path}/turns/{turn.pk}").json
    assert (shown["text"], shown["error"]["code"]) == (None, "internal")


@pytest.mark.parametrize("name", ["", "/cancel", "/feedback"])
@pytest.mark.parametrize("id_", ["tur_none", "%00", "x" * 500, "%E2%82"])
def test_unknown_turn_is_not_found(rest: Rest, people: People, id_, name) -> None:
    body = {"rating": "up"} if name == "/feedback" else {}
    method = "POST" if name else "GET"
    answer = rest(method, f"{people.path}/turns/{id_}{name}", body)
    assert (answer.status, answer.code) == (404, "not_found")


def test_turn_of_another_session_is_not_found(rest: Rest, people, turn: Turn) -> None:
    other = make_session(people.agent, people.session.owner)
    answer = rest("GET", f"/v1/sessions/{other.pk}/turns/{turn.pk}")
    assert answer.status == 404


# C35: twice, and after the end
def test_cancelling_an_ended_turn_changes_nothing(rest: Rest, url: str) -> None:
    for _ in range(2):
        answer = rest("POST", f"{url}/cancel", {})
        assert (answer.status, answer.json["status"]) == (202, "completed")
    assert not Turn.objects.get().cancel_requested


def test_cancelling_an_open_turn_twice_is_the_same(rest: Rest, people: People) -> None:
    turn = make_turn(people, ordinal=2, state="running")
    url = f"{people.path}/turns/{turn.pk}/cancel"
    assert [rest("POST", url).status for _ in range(2)] == [202, 202]
    assert Turn.objects.get(pk=turn.pk).cancel_requested


def test_last_rating_counts(rest: Rest, url: str) -> None:
    rest("POST", f"{url}/feedback", {"rating": "up", "comment": "yes"})
    shown = rest("POST", f"{url}/feedback", {"rating": "down"}).json
    assert shown["feedback"] == {"rating": "down", "comment": ""}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"rating": "meh"},
        {"rating": 1},
        {"rating": ["up"]},
        {"rating": {}},
        {"rating": "up", "comment": 7},
        {"rating": "up", "comment": "x" * 2001},
        {"rating": "up", "x": 1},
    ],
)
def test_bad_rating_is_refused(rest: Rest, url: str, body) -> None:
    assert rest("POST", f"{url}/feedback", body).status == 400
    assert Turn.objects.get().rating == ""


def test_receipt_says_what_each_attempt_was_charged(rest: Rest, turn, url) -> None:
    price = {"model": "gpt-*", "input": "0.15", "output": "0.6", "origin": "configured"}
    common = {"turn": turn, "round": 1, "model": "gpt-x"}
    Attempt.objects.create(
        **common, number=1, provider="primary", status="failed", tokens_in=9
    )
    Attempt.objects.create(
        **common,
        number=2,
        provider="backup",
        status="completed",
        stop_reason="stop",
        tokens_in=7,
        cost_usd=Decimal("0.5"),
        price=price,
    )
    shown = rest("GET", url).json
    first, second = shown["attempts"]
    assert (first["number"], first["price"], first["costUsd"]) == (1, None, None)
    assert (second["stopReason"], second["price"]) == ("stop", price)
    # C59: what is known is a lower bound
    assert (shown["usage"]["costUsdAtLeast"], shown["usage"]["unpricedAttempts"]) == (
        0.5,
        1,
    )
