"""How the lists of the dashboard are narrowed down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest


class NamedFilter(admin.SimpleListFilter):
    """A few named conditions."""

    title: str
    conditions: ClassVar[Mapping[str, tuple[str, Q]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, label) for name, (label, _) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = self.conditions.get(self.value() or "")
        return queryset.filter(found[1]).distinct() if found else queryset


def _ratings(of: str) -> dict[str, tuple[str, Q]]:
    """By the field ``of``, which holds a rating."""
    labels = {"up": "Good answer", "down": "Bad answer"}
    return {name: (label, Q(**{of: name})) for name, label in labels.items()}


class StateFilter(NamedFilter):
    """Whether a conversation goes on."""

    title = "state"
    parameter_name = "state"
    conditions: ClassVar = {
        "open": ("Open", Q(is_closed=False)),
        "closed": ("Closed", Q(is_closed=True)),
    }


class CallFilter(NamedFilter):
    """Whether a person was asked for."""

    title = "call for a person"
    parameter_name = "call"
    conditions: ClassVar = {
        "waiting": ("Waiting", Q(needs_human=True)),
        "none": ("None", Q(needs_human=False)),
    }


class ConversationRatingFilter(NamedFilter):
    """What visitors thought of any reply of a conversation."""

    title = "rating"
    parameter_name = "rating"
    conditions: ClassVar = _ratings("turns__rating")


class RatingFilter(NamedFilter):
    """What a visitor thought of a reply."""

    title = "rating"
    parameter_name = "rating"
    conditions: ClassVar = _ratings("rating")


class CommentFilter(NamedFilter):
    """Whether the visitor wrote what could be better."""

    title = "comment"
    parameter_name = "comment"
    conditions: ClassVar = {
        "yes": ("With a comment", ~Q(rating_comment="")),
        "no": ("Without", Q(rating_comment="")),
    }
