"""What a limit or a budget is on: a choice among what there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from sessions_app.models.budget import NAMED_KINDS
from sessions_app.provision.registry import sections

HEADINGS = {"key": "API keys", "agent": "Agents", "embed": "Embeds"}
GONE = "Not there any more"
Choices = list[tuple[str, Any]]


class TargetForm(forms.ModelForm[Any]):
    """``each`` are the targets that count for each one, and what they are called."""

    each: Mapping[str, str] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = _choices(self.each)
        stored = self.instance.on
        if stored and stored not in _values(choices):
            # What it was on is gone; the row can still be looked at and changed.
            choices.append((GONE, [(stored, stored)]))
        self.fields["on"] = forms.ChoiceField(
            choices=choices,
            help_text="One key, agent or embed, whoever uses it; or each for itself.",
        )


def _choices(each: Mapping[str, str]) -> Choices:
    named = [
        (
            HEADINGS[kind],
            [(f"{kind}:{name}", name) for name in sorted(_names(kind))],
        )
        for kind in NAMED_KINDS
    ]
    given = [(heading, found) for heading, found in named if found]
    return [("", "Choose what it is on"), ("Each one", list(each.items())), *given]


def _names(kind: str) -> set[str]:
    return sections()[kind].stored_names()


def _values(choices: Choices) -> set[str]:
    return {value for _, group in choices[1:] for value, _ in group}
