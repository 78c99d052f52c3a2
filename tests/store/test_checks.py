"""What a row refuses, by the dashboard and by ``full_clean``."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from sessions_app.models import Agent, ApiKey, Price, Provider, Tool
from tests.engine.test_malformed_rows import BAD_LISTS


def faults(row: Any) -> set[str]:
    """The fields that the row's own checks refuse."""
    try:
        row.clean_fields()
    except ValidationError as error:
        return set(error.message_dict)
    return set()


@pytest.mark.parametrize("bad", [*BAD_LISTS, ["primary/gpt\0x"]], ids=repr)
def test_malformed_route_is_refused(bad: Any) -> None:
    assert faults(Agent(slug="a", route=bad)) == {"route"}
    assert not faults(Agent(slug="a", route=["primary/gpt-x", "b/c/d"]))


@pytest.mark.parametrize("bad", [5, "weather", [1], [""], [["weather"]]])
def test_malformed_names_are_refused(bad: Any) -> None:
    assert faults(Agent(slug="a", route=["p/m"], tools=bad)) == {"tools"}
    key = ApiKey(name="a", digest="x", agents=bad, scopes=bad)
    assert faults(key) == {"agents", "scopes"}


def test_unknown_scope_is_refused() -> None:
    assert faults(ApiKey(name="a", digest="x", scopes=["session"])) == {"scopes"}


@pytest.mark.parametrize(
    "row",
    [
        Agent(slug="a", route=["p/m"], temperature=3),
        Agent(slug="a", route=["p/m"], max_output_tokens=0),
        Provider(name="a", idle_timeout_s=1e9),
        Provider(name="a", command="/bin/true"),
        Price(provider=Provider(pk=1), model="*", input=-1, output=1),
        Tool(name="a", settings=[1]),
        Tool(name="a", headers="[1]"),
    ],
)
def test_value_out_of_range_is_refused(db: None, row: Any) -> None:
    assert len(faults(row) - {"provider"}) == 1
