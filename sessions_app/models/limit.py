"""How fast, and how much at once."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models

from sessions_app.models.budget import NAMED_KINDS

ADDRESS = "address"
EACH_KINDS = ("visitor", ADDRESS)
MOST = 1_000_000


def limit_fault(on: str, concurrent_turns: Any) -> str:
    """Why there can be no such limit; empty if there can."""
    kind, _, name = on.partition(":")
    if on not in EACH_KINDS and (kind not in NAMED_KINDS or not name):
        return "'on' must be key:NAME, agent:SLUG, embed:KEY, visitor or address."
    if on == ADDRESS and concurrent_turns is not None:
        return "Turns are not counted by address; write requests_per_minute."
    return ""


class RequestLimit(models.Model):
    """Requests in any 60 seconds, and turns at the same time.

    Those on visitors and addresses count for each of them, and take the place of the
    settings. A limit that is not set does not limit; one of 0 refuses everything.
    """

    on = models.CharField(
        max_length=150,
        unique=True,
        help_text="key:NAME, agent:SLUG, embed:KEY, visitor (each one) or address"
        " (each one that visitors come from).",
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MOST)],
        help_text="Messages, new sessions and starts of the widget, each counted for"
        " itself.",
    )
    concurrent_turns = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MOST)],
        help_text="Sessions that may have an unfinished turn at the same time.",
    )
    is_enabled = models.BooleanField(default=True)

    class Meta:
        verbose_name = "limit"
        ordering = ["on"]

    def __str__(self) -> str:
        return self.on

    def clean(self) -> None:
        """Refuse a limit on nothing, or of nothing."""
        # An 'on' that is missing is refused by its field.
        if self.on and (fault := limit_fault(self.on, self.concurrent_turns)):
            field = "concurrent_turns" if self.on == ADDRESS else "on"
            raise ValidationError({field: fault})
        if self.requests_per_minute is None and self.concurrent_turns is None:
            raise ValidationError("Write a limit of requests, of turns, or both.")
