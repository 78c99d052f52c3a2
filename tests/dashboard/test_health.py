from __future__ import annotations

import pytest
from django.test import Client

from sessions_app.models import Attempt, Turn
from sessions_app.store import health
from tests.fakes.people import make_agent, make_session


@pytest.fixture
def turn(db: None) -> Turn:
    return Turn.objects.create(session=make_session(make_agent()), ordinal=1)


def attempt(turn: Turn, number: int, **fields: object) -> None:
    fields = {"status": "completed", "ttft_ms": number * 10, **fields}
    Attempt.objects.create(
        turn=turn, number=number, round=1, provider="primary", model="m", **fields
    )


def test_health_counts_what_ended_by_itself(turn: Turn) -> None:
    for number in range(1, 19):
        attempt(turn, number)
    attempt(turn, 19, status="cancelled")
    attempt(turn, 20, status="failed", ttft_ms=None, error_code="provider_timeout")
    found = {each.provider: each for each in health.provider_health()}["primary"]
    assert (found.attempts, round(found.success_rate or 0, 4)) == (20, 0.9474)
    assert (found.ttft_p50_ms, found.ttft_p95_ms) == (100, 190)
    assert found.last_error == "provider_timeout"


def test_provider_that_was_not_asked_has_no_rate(turn: Turn) -> None:
    found = {each.provider: each for each in health.provider_health()}["backup"]
    assert (found.attempts, found.success_rate, found.ttft_p50_ms) == (0, None, None)


def test_admin_lists_the_health_of_providers(turn: Turn, admin_client: Client) -> None:
    attempt(turn, 1)
    attempt(turn, 2, status="failed", error_code="provider_overloaded")
    health.cool_down("primary", 120)
    page = admin_client.get("/admin/sessions_app/provider/").content.decode()
    assert "50.0% of 2" in page
    assert "10 / 20 ms" in page
    assert "provider_overloaded" in page
    assert "119 s" in page or "120 s" in page


@pytest.mark.parametrize("path", ["", "sessions_app/session/", "sessions_app/alert/"])
def test_alert_shows_on_every_page_of_the_admin(
    turn: Turn, admin_client: Client, path: str
) -> None:
    health.call_operator("primary", "HTTP 401: <b>no</b>")
    page = admin_client.get(f"/admin/{path}").content.decode()
    assert 'aria-label="Alerts"' in page
    assert "refuses the server&#x27;s key: HTTP 401: &lt;b&gt;no" in page


def test_alert_is_not_shown_before_login(turn: Turn, client: Client) -> None:
    health.call_operator("primary", "HTTP 401")
    page = client.get("/admin/login/").content.decode()
    assert "refuses" not in page


def test_operator_deletes_an_alert(turn: Turn, admin_client: Client) -> None:
    health.call_operator("primary", "HTTP 401")
    (alert,) = health.open_alerts()
    url = f"/admin/sessions_app/alert/{alert.pk}/delete/"
    admin_client.post(url, {"post": "yes"})
    assert health.open_alerts() == []
