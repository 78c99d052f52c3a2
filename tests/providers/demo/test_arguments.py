from __future__ import annotations

from typing import Any

import pytest

from sessions_app.providers.demo.arguments import arguments_for


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "topic"),
        ({"type": "string", "minLength": 8}, "topic---"),
        ({"type": "string", "maxLength": 3}, "top"),
        ({"type": "string", "enum": ["c", "f"]}, "c"),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number"}, 1),
        ({"type": "boolean"}, True),
        ({"type": ["null", "boolean"]}, True),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"type": "array"}, []),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"const": 4}, 4),
        ({"default": "d"}, "d"),
        ({}, "topic"),
        (None, "topic"),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "required": ["a"],
            },
            {"a": 1},
        ),
    ],
)
def test_required_property_gets_a_fitting_value(schema: Any, value: Any) -> None:
    whole = {"properties": {"p": schema, "other": {}}, "required": ["p"]}
    assert arguments_for(whole, "topic") == {"p": value}


@pytest.mark.parametrize("schema", [{}, {"required": None}, {"properties": {"a": {}}}])
def test_nothing_required_gives_an_empty_object(schema: dict[str, Any]) -> None:
    assert arguments_for(schema, "topic") == {}
