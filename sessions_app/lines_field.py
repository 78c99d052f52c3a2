"""A list of texts in a form: one on each line, and what is wrong with which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator


class Lines(forms.Field):
    """Takes lines for a list of texts; empty ones are left out.

    ``fault_of`` says what is wrong with a line, in a sentence, or nothing.
    """

    def __init__(
        self,
        *,
        fault_of: Callable[[str], str] = lambda line: "",
        rows: int = 4,
        **options: Any,
    ) -> None:
        self._fault_of = fault_of
        area = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(widget=area, **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:
        if isinstance(value, list):
            return value
        ProhibitNullCharactersValidator()(str(value or ""))
        lines = [line.strip() for line in str(value or "").splitlines()]
        faults = [
            f"Line {number}: {fault}"
            for number, line in enumerate(lines, 1)
            if line and (fault := self._fault_of(line))
        ]
        if faults:
            raise ValidationError(faults)
        return [line for line in lines if line]

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return self.to_python(initial) != self.to_python(data)
        except ValidationError:
            return True
