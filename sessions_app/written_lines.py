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
