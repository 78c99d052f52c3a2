"""The puzzle of new visitors: when it is asked for, and what solves it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from sessions_app.models import RequestLimit
from tests.fakes.asgi import Answer
from tests.fakes.people import make_embed
from tests.widget.conftest import Visitors
from widget import proof
from widget.models import Embed

from .test_identity import SECRET, token_of


@pytest.fixture(autouse=True)
def easy(settings) -> None:
    settings.LANTERN = {"proof_of_work_bits": 8}


@pytest.fixture
def guarded(embed: Embed) -> Embed:
    embed.proof_of_work = "on"
    embed.save()
    return embed


def solve(challenge: str, bits: int) -> dict[str, str]:
    for number in itertools.count():
        if proof.zero_bits(challenge, str(number)) >= bits:
            return {"challenge": challenge, "solution": str(number)}
    raise AssertionError


def solved(answer: Answer) -> dict[str, str]:
    assert (answer.status, answer.code) == (428, "proof_required")
    error = answer.json["error"]
    return solve(error["challenge"], error["difficulty"])


def test_solved_challenge_lets_a_visitor_in_once(
    visitors: Visitors, guarded: Embed
) -> None:
    answer = solved(visitors.bootstrap())
    assert visitors.bootstrap(proof=answer).status == 200
    again = visitors.bootstrap(proof=answer)
    assert (again.status, again.code) == (428, "proof_required")


def test_wrong_solutions_get_another_challenge(
    visitors: Visitors, guarded: Embed, people: Any, settings
) -> None:
    make_embed(people.agent, "pk_other", proof_of_work="on")
    foreign = solved(visitors.bootstrap(key="pk_other"))
    right = solved(visitors.bootstrap())
    wrong = next(
        str(number)
        for number in itertools.count()
        if proof.zero_bits(right["challenge"], str(number)) < 8
    )
    for bad in (
        {**right, "solution": wrong},
        {**right, "challenge": right["challenge"] + "x"},
        {"challenge": "garbage", "solution": "0"},
        foreign,
    ):
        answer = visitors.bootstrap(proof=bad)
        assert (answer.status, answer.code) == (428, "proof_required")
    assert visitors.bootstrap(proof=right).status == 200


def test_challenge_ends(visitors: Visitors, guarded: Embed, monkeypatch) -> None:
    answer = solved(visitors.bootstrap())
    monkeypatch.setattr(proof, "CHALLENGE_S", -1)
    assert visitors.bootstrap(proof=answer).status == 428


def test_known_visitors_are_not_asked(visitors: Visitors, embed: Embed) -> None:
    embed.secret = SECRET
    embed.save()
    token = visitors.token()
    embed.proof_of_work = "on"
    embed.save()
    assert visitors.bootstrap(visitor=token).status == 200
    assert visitors.bootstrap(identity=token_of("bob")).status == 200
    assert visitors.bootstrap(visitor="garbage").status == 428


def test_nobody_is_asked_while_it_is_off(visitors: Visitors, embed: Embed) -> None:
    RequestLimit.objects.create(on="embed:pk_shop", requests_per_minute=5)
    statuses = [visitors.bootstrap().status for _ in range(6)]
    assert statuses == [200] * 5 + [429]


@pytest.fixture
def automatic(embed: Embed) -> Embed:
    embed.proof_of_work = "auto"
    embed.save()
    RequestLimit.objects.create(on="embed:pk_shop", requests_per_minute=10)
    return embed


# Whoever does not solve it stays out, and does not use up what is left for the others.
def test_it_begins_close_to_the_ceiling(visitors: Visitors, automatic: Embed) -> None:
    statuses = [visitors.bootstrap().status for _ in range(20)]
    assert statuses == [200] * 7 + [428] * 13
    for _ in range(3):
        answer = solved(visitors.bootstrap())
        assert visitors.bootstrap(proof=answer).status == 200
    answer = solved(visitors.bootstrap())
    assert visitors.bootstrap(proof=answer).status == 429


def test_sessions_and_messages_count_too(visitors: Visitors, automatic: Embed) -> None:
    token = visitors.token()
    for _ in range(8):
        visitors.session(token)
    assert visitors.bootstrap().status == 428


@pytest.mark.parametrize(
    "body",
    [
        {"proof": "x"},
        {"proof": {"challenge": "x"}},
        {"proof": {"challenge": "x", "solution": "0" * 33}},
        {"proof": {"challenge": "x" * 501, "solution": "0"}},
        {"proof": {"challenge": "x", "solution": "0", "more": "1"}},
    ],
)
def test_bad_proof_is_refused(visitors: Visitors, guarded: Embed, body: Any) -> None:
    assert visitors.bootstrap(**body).status == 400
