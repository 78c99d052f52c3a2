"""Arguments that fit a JSON Schema, as well as a demo can guess them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 6


def arguments_for(schema: Mapping[str, Any], topic: str) -> dict[str, Any]:
    """A value for each required property; ``topic`` stands in for free text."""
    return _object(schema, topic, 0)


def _value(schema: object, topic: str, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return topic
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    for name in ("enum", "examples"):
        choices = schema.get(name)
        if isinstance(choices, list) and choices:
            return choices[0]
    for name in ("anyOf", "oneOf", "allOf"):
        choices = schema.get(name)
        if isinstance(choices, list) and choices:
            return _value(choices[0], topic, depth + 1)
    return _by_type(schema, topic, depth)


def _by_type(schema: Mapping[str, Any], topic: str, depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    match kind:
        case "object":
            return _object(schema, topic, depth)
        case "array":
            count = _number(schema, "minItems", 0)
            return [_value(schema.get("items"), topic, depth + 1)] * int(count)
        case "integer":
            return int(_number(schema, "minimum", 1))
        case "number":
            return _number(schema, "minimum", 1)
        case "boolean":
            return True
        case "null":
            return None
    return _string(schema, topic)


def _object(schema: Mapping[str, Any], topic: str, depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    required = schema.get("required")
    if not isinstance(required, list):
        return {}
    known = properties if isinstance(properties, Mapping) else {}
    return {str(name): _value(known.get(name), topic, depth + 1) for name in required}


def _string(schema: Mapping[str, Any], topic: str) -> str:
    text = topic.ljust(int(_number(schema, "minLength", 0)), "-")
    return text[: int(_number(schema, "maxLength", len(text)))]


def _number(schema: Mapping[str, Any], name: str, default: float) -> float:
    value = schema.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else default  # type: ignore[return-value]
