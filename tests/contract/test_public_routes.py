"""What anybody may ask without a credential, and that each such route is bounded.

A new route without a credential fails the first test here until it has a bound, and a
line on the page of limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from lantern_site import readiness
from tests.fakes.edge import Live, Rest
from tests.fakes.people import SHOP, make_embed

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "limits.md"
PUBLIC = {
    "/",
    "/health",
    "/ready",
    "/widget.js",
    "/v1/schema",
    "/v1/docs",
    "/v1/socket/schema",
    "/v1/widget/bootstrap",
    "/v1/widget/config",
    "/admin/login/",
    "/admin/logout/",
}


def routes(resolver: Any = None, prefix: str = "/") -> Iterator[str]:
    """Every path of the site, each placeholder an ``x``."""
    for pattern in (resolver or get_resolver()).url_patterns:
        text = str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, prefix + text)
        elif isinstance(pattern, URLPattern):
            yield prefix + "/".join(
                "x" if part.startswith("<") else part for part in text.split("/")
            )


def is_open(path: str) -> bool:
    """Whether any method but a preflight is answered to nobody in particular."""
    for method in ("GET", "POST", "PATCH", "DELETE"):
        answer = Client().generic(method, path, REMOTE_ADDR="192.0.2.1")
        is_login = answer.status_code == 302 and "login" in answer["Location"]
        if answer.status_code not in (401, 403, 404, 405) and not is_login:
            return True
    return False


def test_routes_without_a_credential_are_known(rest: Rest) -> None:
    paths = {path for path in routes() if "(" not in path and "jsi18n" not in path}
    assert len(paths) > 40
    assert {path for path in paths if is_open(path)} == PUBLIC - {"/v1/widget/config"}


def test_each_of_them_stands_on_the_page_of_limits() -> None:
    page = PAGE.read_text()
    assert [path for path in sorted(PUBLIC) if f"`{path}`" not in page] == []


@pytest.mark.parametrize("path", ["/", "/health", "/v1/schema", "/v1/docs"])
def test_asking_again_costs_no_query(rest: Rest, path: str) -> None:
    assert rest("GET", path, key=None).status == 200
    with CaptureQueriesContext(connection) as queries:
        assert rest("GET", path, key=None).status == 200
    assert len(queries) == 0


def test_looks_cost_no_query_whatever_is_asked_for(rest: Rest, people: Any) -> None:
    make_embed(people.agent)
    path = "/v1/widget/config?key="
    assert rest("GET", f"{path}pk_shop", key=None, origin=SHOP).status == 200
    with CaptureQueriesContext(connection) as queries:
        assert rest("GET", f"{path}pk_shop", key=None, origin=SHOP).status == 200
        assert rest("GET", f"{path}pk_none", key=None).status == 404
    assert len(queries) == 0


async def test_readiness_is_looked_for_once_a_second(live: Live, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(readiness, "_ask_database", lambda: asked.append(1))
    monkeypatch.setattr(readiness, "FRESH_S", 60.0)
    monkeypatch.setattr(readiness, "_asked", None)
    answers = [await live.client.request("GET", "/ready") for _ in range(5)]
    assert {answer.status for answer in answers} == {200}
    assert len(asked) == 1


# Each costs a quarter of a second of CPU, right or wrong.
def test_few_passwords_are_tried_for_an_address(db: None, settings) -> None:
    settings.LANTERN = {"address_logins_per_minute": 2}
    User.objects.create_superuser("root", password="right")

    def log_in(password: str, address: str) -> Any:
        fields = {"username": "root", "password": password}
        return Client().post("/admin/login/", fields, REMOTE_ADDR=address)

    for _ in range(2):
        assert b"Too many" not in log_in("wrong", "192.0.2.1").content
    late = log_in("right", "192.0.2.1")
    assert (late.status_code, b"Too many attempts" in late.content) == (200, True)
    assert log_in("right", "192.0.2.2").status_code == 302
