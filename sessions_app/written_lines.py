"""A command and HTTP headers in a form: an argument or a header on each line."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from sessions_app.domain.errors import BadRequest
from sessions_app.domain.text import require_storable
from sessions_app.lines_field import Lines
from sessions_app.tools.http_tool import header_fault

QUOTE = '"'
BAD_QUOTES = (
    "what begins with a double quote must end with one, with a backslash before"
    ' each " and \\ within; most texts need no quotes.'
)
EMPTY = '""'
NO_PAIR = "write a name, = and a value, as in city={city}."


class Arguments(Lines):
    """Arguments of a command; one that a line cannot hold stands in double quotes."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fault_of=_argument_fault, **options)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(_line_of(str(each)) or EMPTY for each in value)

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
    """A table of texts, as ``name=value`` lines; either side may be quoted."""

    def __init__(self, **options: Any) -> None:
        super().__init__(fault_of=_pair_fault, **options)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        lines = ((_line_of(str(name), "="), text) for name, text in value.items())
        return "\n".join(f"{name}={_line_of(str(text))}" for name, text in lines)

    def clean(self, value: Any) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for name, text in map(_pair_of, super().clean(value)):
            if name in pairs:
                raise forms.ValidationError(f"The name {name!r} is twice.")
            pairs[name] = text
        return pairs


def _pair_of(line: str) -> tuple[str, str]:
    """The name and the value of a line; ValueError where it has none."""
    if line.startswith(QUOTE):
        name, end = json.JSONDecoder().raw_decode(line)
        sign, text = line[end:].lstrip()[:1], line[end:].lstrip()[1:]
    else:
        plain, sign, text = line.partition("=")
        name = plain.strip()
    if sign != "=" or not name:
        raise ValueError(NO_PAIR)
    return name, _argument_of(text.strip())


def _pair_fault(line: str) -> str:
    try:
        name, text = _pair_of(line)
        require_storable([name, text])
    except json.JSONDecodeError:
        return BAD_QUOTES
    except (ValueError, BadRequest) as error:
        return str(error)
    return ""


def _line_of(text: str, without: str = "") -> str:
    """As it is written in a line: in quotes where the line would not hold it else."""
    is_plain = text == text.strip() and len(text.splitlines()) <= 1
    is_whole = is_plain and not text.startswith(QUOTE)
    is_bare = is_whole and not (without and without in text)
    return text if is_bare else json.dumps(text, ensure_ascii=True)


def _argument_of(line: str) -> str:
    return str(json.loads(line)) if line.startswith(QUOTE) else line


def _argument_fault(line: str) -> str:
    try:
        require_storable(_argument_of(line))
    except ValueError:
        return BAD_QUOTES
    except BadRequest as error:
        return str(error)
    return ""


def _header_line_fault(line: str) -> str:
    # What is said holds no value: it may be a secret.
    name, colon, text = line.partition(":")
    if not colon:
        return "write a name, a colon and a value, as in Authorization: Bearer abc."
    return header_fault(name.strip(), text.strip())
