"""Conversations."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from sessions_app.domain import ids
from sessions_app.domain.states import SessionStatus
from sessions_app.models.agent import Agent
from sessions_app.models.checks import check_route


def new_session_id() -> str:
    return ids.new_id(ids.SESSION)


class Session(models.Model):
    """One conversation; ``owner`` is the caller that made it, such as ``key:3``.

    Whether it runs is not stored here but read off its turns. ``summary`` is what an
    agent with a memory is told of the turns up to ``summary_to``. ``operator`` is the
    name of the person who has taken over from the agent, as the visitor reads it. Once
    ``purged_at`` is set nobody sees it any more: it stands for what its turns cost.
    """

    id = models.CharField(
        primary_key=True, max_length=40, default=new_session_id, editable=False
    )
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="sessions")
    owner = models.CharField(max_length=200, db_index=True)
    title = models.CharField(max_length=200, blank=True, default="")
    user = models.CharField(max_length=200, blank=True, default="", db_index=True)
    system_prompt = models.TextField(blank=True, default="")
    route = models.JSONField(default=list, blank=True, validators=[check_route])
    metadata = models.JSONField(default=dict, blank=True)
    summary = models.TextField(blank=True, default="", editable=False)
    summary_to = models.PositiveIntegerField(default=0, editable=False)
    is_closed = models.BooleanField(default=False)
    operator = models.CharField(max_length=100, blank=True, default="", editable=False)
    needs_human = models.BooleanField(
        default=False, help_text="The agent asked for a colleague."
    )
    handover_reason = models.TextField(blank=True, default="")
    last_ordinal = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    mails_sent = models.PositiveSmallIntegerField(default=0, editable=False)
    purged_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "conversation"
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["-created_at", "-id"]),
            models.Index(
                fields=["agent", "updated_at"],
                condition=Q(purged_at=None),
                name="sessions_to_purge",
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.id

    @property
    def status(self) -> SessionStatus:
        """Closed, or what its turns say.

        Reads ``active_state`` and ``has_queued``, which ``store.sessions`` annotates.
        """
        if self.is_closed:
            return SessionStatus.CLOSED
        if state := getattr(self, "active_state", None):
            return SessionStatus(state)
        if getattr(self, "has_queued", False):
            return SessionStatus.RUNNING
        return SessionStatus.IDLE
