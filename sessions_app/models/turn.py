"""Turns: one user message and everything done to answer it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions_app.domain import ids
from sessions_app.domain.states import ACTIVE_STATES, TurnState
from sessions_app.models.session import Session


def new_turn_id() -> str:
    return ids.new_id(ids.TURN)


class Turn(models.Model):
    """Has exactly one end; ``fence`` grows with each claim and stops old runners.

    ``operator`` names the person who speaks in it, or who is brought its message.
    ``answering`` is the provider and model whose text goes out while it is not booked,
    as in a route; ``answering_from_n`` is where the first delta of that stands.
    """

    id = models.CharField(
        primary_key=True, max_length=40, default=new_turn_id, editable=False
    )
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    ordinal = models.PositiveIntegerField()
    state = models.CharField(max_length=16, default=TurnState.QUEUED)
    user_message = models.ForeignKey(
        "sessions_app.Message", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    allow_failover = models.BooleanField(default=True)
    is_budgeted = models.BooleanField(default=False)
    operator = models.CharField(max_length=100, blank=True, default="")

    fence = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=40, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)
    has_deltas = models.BooleanField(default=False)
    answering = models.CharField(max_length=265, blank=True, default="")
    answering_from_n = models.PositiveIntegerField(default=0)
    has_started_tool = models.BooleanField(default=False)

    client_tools = models.JSONField(default=list)
    tool_choice = models.JSONField(default=dict)
    with_raw = models.BooleanField(default=False)
    next_n = models.PositiveIntegerField(default=1)
    round_texts = models.JSONField(default=list)
    shown_texts = models.JSONField(default=list)
    tools_due_at = models.DateTimeField(null=True)

    terminal_n = models.PositiveBigIntegerField(null=True)
    stop_reason = models.CharField(max_length=20, blank=True, default="")
    digest = models.CharField(max_length=64, blank=True, default="")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error = models.TextField(blank=True, default="")
    error_retryable = models.BooleanField(default=False)

    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cached_tokens_in = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    is_estimated = models.BooleanField(default=False)

    rating = models.CharField(max_length=4, blank=True, default="")
    rating_comment = models.TextField(blank=True, default="")

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["session", "ordinal"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "ordinal"], name="one_turn_per_ordinal"
            ),
            models.UniqueConstraint(
                fields=["session"],
                condition=Q(state__in=[state.value for state in ACTIVE_STATES]),
                name="one_running_turn_per_session",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "lease_until"],
                condition=Q(state__in=["queued", "running", "awaiting_tools"]),
                name="open_turns",
            )
        ]

    def __str__(self) -> str:
        return self.id


class Feedback(Turn):
    """A turn that its reader has rated; the same rows under another name."""

    shown: str
    excerpt: str

    class Meta:
        proxy = True
        verbose_name = "feedback"
        verbose_name_plural = "feedback"
