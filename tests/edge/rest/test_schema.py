from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
import schemathesis
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from sessions_app.edge.rest.reference import rest_reference
from sessions_app.edge.rest.urls import urlpatterns
from tests.contract.test_error_shape import assert_error_shape
from tests.fakes.edge import People, Rest
from tests.fakes.people import ALICE_KEY

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "rest.md"


@lru_cache(maxsize=1)
def openapi() -> dict[str, Any]:
    return dict(SchemaGenerator().get_schema(request=None, public=True))


def operations() -> Iterator[Any]:
    schema = schemathesis.openapi.from_dict(openapi())
    for found in schema.get_all_operations():
        operation = found.ok()
        if not operation.path.endswith("/events"):  # not behind Django
            yield pytest.param(operation, id=operation.label)


def test_schema_is_valid_without_warnings(tmp_path: Path) -> None:
    path = str(tmp_path / "schema.yml")
    call_command("spectacular", validate=True, fail_on_warn=True, file=path)


def test_schema_names_every_path() -> None:
    written = {re.sub(r"<str:(\w+)>", r"{\1}", f"/v1/{p.pattern}") for p in urlpatterns}
    described = set(openapi()["paths"])
    extra = {"/v1/sessions/{session_id}/events"}
    extra |= {f"/v1/widget/{name}" for name in ("bootstrap", "config", "visitor")}
    assert described == (written | extra) - {"/v1/socket/schema"}


def test_operations_have_names_of_their_own() -> None:
    names = [
        operation["operationId"]
        for path in openapi()["paths"].values()
        for operation in path.values()
    ]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[a-z]+[A-Za-z]*", name) for name in names)


def test_reference_page_is_fresh() -> None:
    assert PAGE.read_text() == rest_reference(), "Renew it: make docs"


def test_schema_is_served_to_anybody(rest: Rest) -> None:
    answer = rest("GET", "/v1/schema?format=json", key=None)
    assert answer.status == 200
    assert answer.json["info"]["title"] == "Lantern"


# Nothing is loaded from elsewhere: the page works without the Internet.
def test_docs_page_needs_nothing_from_elsewhere(rest: Rest) -> None:
    answer = rest("GET", "/v1/docs", key=None)
    page = answer.body.decode()
    assert answer.status == 200
    assert re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page) == []
    assets = re.findall(r"""(?:src|href)=["'](/static/[^"']+)""", page)
    assert assets
    assert {rest("GET", path, key=None).status for path in assets} == {200}


@pytest.mark.parametrize("operation", list(operations()))
def test_generated_requests_never_fail_inside(
    rest: Rest, people: People, operation: Any
) -> None:
    @given(operation.as_strategy(), st.booleans())
    @settings(
        max_examples=25,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @seed(1)
    def check(case: Any, is_real: bool) -> None:
        values = dict(case.path_parameters or {})
        if is_real and "session_id" in values and case.method != "DELETE":
            values["session_id"] = people.session.pk
        path = operation.path.format(
            **{name: quote(str(value), safe="") for name, value in values.items()}
        )
        answer = rest(
            case.method,
            f"{path}?{urlencode(case.query or {}, doseq=True)}",
            body_of(case),
            ALICE_KEY,
            **header_of(case),
        )
        assert answer.status < 500
        if answer.status >= 400:
            assert_error_shape(answer)

    check()


def body_of(case: Any) -> bytes:
    if isinstance(case.body, bytes):
        return case.body
    try:
        return json.dumps(case.body).encode()
    except TypeError:
        return b""  # there is none


def header_of(case: Any) -> dict[str, str]:
    key = (case.headers or {}).get("Idempotency-Key")
    return {} if key is None else {"idempotency_key": str(key)}
