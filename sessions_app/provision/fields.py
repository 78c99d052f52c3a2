"""Keys of a section as a table: name, kind, what is needed and what is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import msgspec
from django.core.exceptions import ImproperlyConfigured

from sessions_app.conf import read_env
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.text import require_storable

ENV = "env:"
LARGEST_INTEGER = 2_147_483_647
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_SLUG = re.compile(r"[A-Za-z0-9_-]+")
_DECIMAL_PLACES = 8
_DECIMAL_DIGITS = 10


class Refused(ValueError):
    """A value that cannot be used; the text is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of value: how it is called, and how it is read (raises Refused)."""

    label: str
    read: Callable[[Any], Any]
    is_list: bool = False


def _no_check(_: Any) -> None:
    """Nothing to refuse."""


@dataclass(frozen=True, slots=True)
class Field:
    """One key; ``check`` sees a value, or each item of a list, and raises Refused.

    ``column`` is the model's field if it has another name. What a new row gets where
    the key is left out is the model's own default.
    """

    name: str
    kind: Kind
    help: str
    required: bool = False
    check: Callable[[Any], None] = _no_check
    column: str = ""


def closest(name: str, known: Iterable[str]) -> str:
    """The known name most like ``name``."""
    return get_close_matches(name, sorted(known), n=1, cutoff=0.0)[0]


def read_text(value: Any) -> str:
    """A string, or the variable that ``env:NAME`` names."""
    if not isinstance(value, str):
        raise Refused(f"must be a string in quotes, not {_type_of(value)}.")
    text = _from_env(value[len(ENV) :]) if value.startswith(ENV) else value
    try:
        require_storable(text)
    except BadRequest as error:
        raise Refused("holds a NUL character or half a surrogate pair.") from error
    return text


def _from_env(name: str) -> str:
    if not _ENV_NAME.fullmatch(name):
        raise Refused("must name an environment variable after 'env:'.")
    try:
        value = read_env(name)
    except ImproperlyConfigured as error:
        raise Refused(f"cannot be had: {error}") from error
    if value is None:
        raise Refused(f"names the environment variable {name}, which is not set.")
    return value


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refused(f"must be true or false, not {_type_of(value)}.")
    return value


def _read_integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(f"must be a whole number, not {_type_of(value)}.")
    return value


def _read_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(f"must be a number, not {_type_of(value)}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Refused("must be a number that is not infinite.")
    return number


def _read_decimal(value: Any) -> Decimal:
    if isinstance(value, float):
        raise Refused(
            f'must stand in quotes, as "{value}", so that it is kept to the last digit.'
        )
    text = str(_read_integer(value)) if not isinstance(value, str) else read_text(value)
    if not _DECIMAL.fullmatch(text):
        raise Refused('must be a decimal number such as "0.15".')
    whole, _, places = text.lstrip("-").partition(".")
    if len(whole.lstrip("0")) > _DECIMAL_DIGITS or len(places) > _DECIMAL_PLACES:
        raise Refused(
            f"must have at most {_DECIMAL_DIGITS} digits before the point"
            f" and {_DECIMAL_PLACES} after it."
        )
    if text.startswith("-"):
        raise Refused("must not be negative.")
    return Decimal(text)


def _read_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Refused(f"must be a list of strings, not {_type_of(value)}.")
    return value


def _read_table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused(f"must be a table, not {_type_of(value)}.")
    try:
        require_storable(value)
        msgspec.json.encode(value)
    except (BadRequest, TypeError) as error:
        raise Refused("holds what cannot be stored as JSON.") from error
    return value


def _read_text_table(value: Any) -> dict[str, str]:
    return {name: read_text(each) for name, each in _read_table(value).items()}


TEXT = Kind("string", read_text)
FLAG = Kind("true or false", _read_flag)
INTEGER = Kind("whole number", _read_integer)
NUMBER = Kind("number", _read_number)
DECIMAL = Kind("decimal string", _read_decimal)
TABLE = Kind("table", _read_table)
TEXT_TABLE = Kind("table of strings", _read_text_table)
TEXTS = Kind("list of strings", _read_list, is_list=True)

_TYPES = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def _type_of(value: Any) -> str:
    return _TYPES.get(type(value), "a date or time")


def up_to(length: int) -> Callable[[str], None]:
    """Text of at most ``length`` characters."""

    def check(value: str) -> None:
        if len(value) > length:
            raise Refused(f"must have at most {length} characters.")

    return check


def slug_up_to(length: int) -> Callable[[str], None]:
    """Letters, digits, hyphens and underscores, at most ``length`` of them."""

    def check(value: str) -> None:
        if not _SLUG.fullmatch(value):
            raise Refused("must be letters, digits, hyphens and underscores only.")
        up_to(length)(value)

    return check


def within(low: float, high: float) -> Callable[[float], None]:
    """A number of this range, both ends included."""

    def check(value: float) -> None:
        if not low <= value <= high:
            raise Refused(f"must be from {low:,} to {high:,}.")

    return check


def one_of(choices: Collection[str]) -> Callable[[str], None]:
    """One of a few names."""

    def check(value: str) -> None:
        if value not in choices:
            known = ", ".join(sorted(choices))
            raise Refused(f"is {value!r}, which is not known; write one of: {known}.")

    return check
