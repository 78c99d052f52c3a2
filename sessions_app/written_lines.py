"""A command and HTTP headers in a form: an argument or a header on each line."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from sessions_app.lines_field import Lines
from sessions_app.tools.http_tool import header_fault


class Arguments(Lines):
    """Arguments of a command; one that a line cannot hold stands in double quotes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fault_of=_argument_fault, **options)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(map(_line_of, map(str, value)))

    def to_python(self, value: Any) -> list[str]:
        if isinstance(value, list):
            return value
        return [_argument_of(line) for line in super().to_python(value)]


class HeaderLines(Lines):
    """HTTP headers, as the JSON that is stored of them; nothing stays nothing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fault_of=_header_line_fault, **options)

    def clean(self, value: Any) -> str:
        headers: dict[str, str] = {}
        for line in super().clean(value):
            name, _, text = line.partition(":")
            if name.strip().lower() in {known.lower() for known in headers}:
                raise forms.ValidationError(f"The header {name.strip()!r} is twice.")
            headers[name.strip()] = text.strip()
        return json.dumps(headers) if headers else ""


class Pairs(Lines):
    """A table of texts, as ``name=value`` lines."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fault_of=_pair_fault, **options)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return "\n".join(f"{name}={text}" for name, text in value.items())

    def clean(self, value: Any) -> dict[str, str]:
        pairs = (line.partition("=") for line in super().clean(value))
        return {name.strip(): text.strip() for name, _, text in pairs}


class JsonObject(forms.JSONField):
    """A JSON object, shown so that it can be read; nothing is None."""

    default_error_messages = {
        "invalid": "This is not JSON. Names and texts stand in double quotes, and no"
        " comma after the last."
    }

    def prepare_value(self, value: Any) -> Any:
        return json.dumps(value, indent=2) if isinstance(value, dict) else value

    def bound_data(self, data: Any, initial: Any) -> Any:
        return data  # as it was typed, right or wrong

    def clean(self, value: Any) -> dict[str, Any] | None:
        found = super().clean(value)
        if found is not None and not isinstance(found, dict):
            raise forms.ValidationError('Write a JSON object: {"name": …}.')
        return found


def _pair_fault(line: str) -> str:
    name, sign, _ = line.partition("=")
    is_pair = bool(sign and name.strip())
    return "" if is_pair else "write a name, = and a value, as in city={city}."


def _line_of(argument: str) -> str:
    is_plain = argument == argument.strip() and len(argument.splitlines()) == 1
    is_whole = is_plain and not argument.startswith('"')
    return argument if is_whole else json.dumps(argument, ensure_ascii=True)


def _argument_of(line: str) -> str:
    return str(json.loads(line)) if line.startswith('"') else line


def _argument_fault(line: str) -> str:
    if not line.startswith('"'):
        return ""
    try:
        json.loads(line)
    except ValueError:
        return (
            "what begins with a double quote must end with one, with a backslash before"
            ' each " and \\ within; most arguments need no quotes.'
        )
    return ""


def _header_line_fault(line: str) -> str:
    # What is said holds no value: it may be a secret.
    name, colon, text = line.partition(":")
    if not colon:
        return "write a name, a colon and a value, as in Authorization: Bearer abc."
    return header_fault(name.strip(), text.strip())
