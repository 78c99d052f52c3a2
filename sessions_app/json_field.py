"""A JSON object in a form: kept as it was typed, and where it is wrong."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from django import forms
from django.core.exceptions import ValidationError

from sessions_app.domain.errors import BadRequest
from sessions_app.domain.text import require_storable, shortened

NO_OBJECT = 'Write a JSON object: {"name": …}.'


class JsonObject(forms.JSONField):
    """A JSON object, shown so that it can be read; nothing is None."""

    def __init__(self, *, rows: int = 8, **options: Any) -> None:
        attributes = {"rows": rows, "spellcheck": "false", "class": "written-code"}
        super().__init__(widget=forms.Textarea(attrs=attributes), **options)

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return data  # as it was typed, right or wrong

    def to_python(self, value: Any) -> Any:
        if isinstance(value, dict) or value in self.empty_values:
            return value or None
        return _read(str(value))


def _read(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return None
    try:
        found = json.loads(
            text,
            object_pairs_hook=_once_each,
            parse_float=_finite,
            parse_constant=_refuse,
        )
        require_storable(found)
    except json.JSONDecodeError as error:
        raise ValidationError(_sentence(error)) from error
    except RecursionError as error:
        raise ValidationError("The JSON is nested too deeply.") from error
    except (ValueError, BadRequest) as error:
        raise ValidationError(str(error)) from error
    if not isinstance(found, dict):
        raise ValidationError(NO_OBJECT)
    return found


def _sentence(error: json.JSONDecodeError) -> str:
    """Where it ends to be JSON, what stands there, and what should."""
    rest = error.doc[error.pos :].split("\n", 1)[0].strip()
    seen = f" at {shortened(rest, 20)!r}" if rest else ""
    return (
        f"This is not JSON: line {error.lineno}, column {error.colno}{seen}:"
        f" {_reason(error, rest)}."
    )


def _reason(error: json.JSONDecodeError, rest: str) -> str:
    if rest.startswith("'"):
        return "texts stand in double quotes"
    if "property name" in error.msg:
        return "a name in double quotes belongs here, and no comma after the last"
    return error.msg[:1].lower() + error.msg[1:]


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"The name {twice!r} is twice in one object.")
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        _refuse(digits)
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number that JSON can hold.")
