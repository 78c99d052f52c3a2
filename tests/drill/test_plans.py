"""A drill that does nothing would find nothing: what the plans and judges must do."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tests.drill.mixed_faults import Faults
from tests.drill.plans import FAULTS, plan_of
from tests.drill.tally import PROPERTY, pytest_terminal_summary
from tests.drill.visitors import Visit, check_bill
from tests.fakes.fake_upstream import Exchange


def test_plan_has_all_that_it_was_asked_for() -> None:
    for number in range(5):
        names = [move.name for move in plan_of(number, len(FAULTS), 9)]
        assert sorted(name for name in names if name in FAULTS) == sorted(FAULTS)
        assert len(names) == len(FAULTS) + 9 + 2


def test_plan_follows_from_its_number() -> None:
    assert plan_of(3, 8, 9) == plan_of(3, 8, 9)
    assert plan_of(3, 8, 9) != plan_of(4, 8, 9)


def test_every_fault_can_be_done() -> None:
    assert [name for name in FAULTS if not hasattr(Faults, name)] == []


def turn(**usage: Any) -> Any:
    counted = {"tokensIn": 11, "tokensOut": 5, "estimated": False}
    return {"status": "completed", "usage": {**counted, **usage}}


def request(key: str = "one", at: float = 0.0) -> Exchange:
    return Exchange("POST", "/", {"idempotency-key": key}, b"", 1, arrived_at=at)


def test_bill_that_is_right_is_let_pass() -> None:
    check_bill(Visit("v", "steady", 5, "helper"), turn(), [request()])


@pytest.mark.parametrize(
    ("ended", "requests"),
    [
        (turn(tokensOut=6), [request()]),
        (turn(tokensIn=22), [request()]),
        (turn(estimated=True), [request()]),
        (turn(), [request(), request("other")]),
        (turn(), [request(), request(at=2.0)]),
        (turn(), []),
    ],
)
def test_bill_that_is_wrong_is_seen(ended: Any, requests: list[Exchange]) -> None:
    visit = Visit("v", "steady", 5, "helper", first_word_at=1.0)
    with pytest.raises(AssertionError):
        check_bill(visit, ended, requests)


def test_counts_of_all_drills_are_printed() -> None:
    told = [(PROPERTY, json.dumps({"turns": 2})), ("another", "x")]
    report = SimpleNamespace(when="call", user_properties=told)
    setup = SimpleNamespace(when="setup", user_properties=told)
    reporter = Mock(stats={"passed": [report], "failed": [report], "": [setup]})
    pytest_terminal_summary(reporter)
    reporter.write_line.assert_called_once_with("     4 turns")
