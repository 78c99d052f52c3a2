"""What the JSON of a row must be: validators, for the dashboard's forms."""

from __future__ import annotations

import json

from django.core.exceptions import ValidationError

from sessions_app.domain.lists import texts_fault
from sessions_app.domain.route import route_entry_fault


def check_texts(value: object) -> None:
    """Refuse anything but a list of texts."""
    if fault := texts_fault(value):
        raise ValidationError(f"This {fault}")


def check_names(value: object) -> None:
    """Refuse anything but a list of texts that are not empty."""
    check_texts(value)
    if "" in value:  # type: ignore[operator]
        raise ValidationError("An empty text is no name.")


def check_route(value: object) -> None:
    """Refuse anything but a list of ``provider/model``."""
    check_texts(value)
    for entry in value:  # type: ignore[attr-defined]
        if fault := route_entry_fault(entry):
            raise ValidationError(f"A step {fault}")


def check_object(value: object) -> None:
    """Refuse anything but a JSON object."""
    if not isinstance(value, dict):
        raise ValidationError("Write a JSON object.")


def check_headers(value: str) -> None:
    """Refuse a text that is no JSON object of texts."""
    try:
        headers = json.loads(value)
    except ValueError as error:
        raise ValidationError("This is not JSON.") from error
    if not isinstance(headers, dict) or texts_fault(list(headers.values())):
        raise ValidationError("Write a JSON object of texts.")
