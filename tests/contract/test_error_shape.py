"""One JSON error form for everything that answers: contract, section 4."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sessions_app.domain.errors import LanternError, QueueFull, RateLimited, SessionBusy
from sessions_app.edge.errors import as_lantern_error, error_body, error_headers
from tests.fakes.edge import NOTHING, Answer, Rest

KEYS = {"code", "message", "requestId"}


def assert_error_shape(answer: Answer) -> None:
    assert answer.header("content-type").partition(";")[0] == "application/json"
    assert set(answer.json) == {"error"}
    error = answer.json["error"]
    assert set(error) >= KEYS
    assert re.fullmatch("[a-z_]+", error["code"])
    assert re.fullmatch(r"req_\w{22}", error["requestId"])
    assert error["message"][-1] in ".!?"


REFUSALS: list[tuple[str, str, Any, int]] = [
    ("GET", "/v1/sessions/sess_x", NOTHING, 404),
    ("GET", "/v1/nothing", NOTHING, 404),
    ("GET", "/nothing", NOTHING, 404),
    ("GET", "/v1/sessions/a/b/c", NOTHING, 404),
    ("PUT", "/v1/sessions", NOTHING, 405),
    ("GET", "/v1/widget/bootstrap", NOTHING, 405),
    ("POST", "/v1/sessions", b"{", 400),
    ("POST", "/v1/sessions", {"title": 7}, 400),
    ("POST", "/v1/sessions", {"x": 7}, 400),
    ("POST", "/v1/sessions", b"x" * 1_048_577, 413),
    ("POST", "/v1/widget/bootstrap", {"key": "pk_none"}, 404),
    ("GET", "/v1/widget/config", NOTHING, 404),
    ("GET", "/v1/widget/config?key=%00", NOTHING, 400),
    ("POST", "/v1/widget/config", NOTHING, 405),
    ("POST", "/health", NOTHING, 405),
    ("POST", "/ready", NOTHING, 405),
    ("POST", "/widget.js", NOTHING, 405),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), REFUSALS)
def test_refusal_has_the_one_form(
    rest: Rest, method: str, path: str, body: Any, status: int
) -> None:
    answer = rest(method, path, body)
    assert answer.status == status
    assert_error_shape(answer)


def test_nobody_is_told_how_to_authenticate(rest: Rest) -> None:
    answer = rest("GET", "/v1/sessions", key=None)
    assert_error_shape(answer)
    assert answer.header("www-authenticate") == "Bearer"


def test_wrong_method_names_the_right_ones(rest: Rest) -> None:
    assert "POST" in rest("PUT", "/v1/sessions").header("allow")
    assert "GET" in rest("POST", "/health").header("allow")


@pytest.mark.parametrize("error", [RateLimited(), QueueFull(retry_after_s=9)])
def test_retry_after_comes_with_429(error: LanternError) -> None:
    assert int(error_headers(error)["Retry-After"]) > 0
    assert set(error_body(error)["error"]) == KEYS


def test_details_stand_beside_the_code() -> None:
    assert error_body(SessionBusy(turnId="tur_1"))["error"]["turnId"] == "tur_1"


def test_unforeseen_error_shows_nothing_and_is_found_in_the_log(caplog) -> None:
    error = error_body(as_lantern_error(ValueError("postgres://user:pw@db")))["error"]
    assert error["code"] == "internal"
    assert "postgres" not in str(error)
    assert error["requestId"] in caplog.text
