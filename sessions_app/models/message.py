"""Stored utterances."""

from __future__ import annotations

from django.db import models

from sessions_app.domain import ids
from sessions_app.models.session import Session
from sessions_app.models.turn import Turn


def new_message_id() -> str:
    return ids.new_id(ids.MESSAGE)


class Message(models.Model):
    """Ordered by its turn's ordinal, then ``position``: 0 asks, 1 answers.

    ``author`` is the caller that wrote it; ``operator`` is the name of the person who
    answers with it, or to whom it was brought; empty where a model is asked.
    """

    id = models.CharField(
        primary_key=True, max_length=40, default=new_message_id, editable=False
    )
    session = models.ForeignKey(
        Session, on_delete=models.CASCADE, related_name="messages"
    )
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="messages")
    ordinal = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=16)
    content = models.TextField()
    author = models.CharField(max_length=200, blank=True, default="")
    operator = models.CharField(max_length=100, blank=True, default="")
    has_attachments = models.BooleanField(default=False)
    is_superseded = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "ordinal", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "ordinal", "position"],
                name="one_message_per_position",
            )
        ]

    def __str__(self) -> str:
        return self.id
