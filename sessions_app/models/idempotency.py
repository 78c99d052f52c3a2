"""Which request made which turn."""

from __future__ import annotations

from django.db import models

from sessions_app.models.session import Session
from sessions_app.models.turn import Turn


class Idempotency(models.Model):
    """One ``Idempotency-Key`` of one caller in one session."""

    caller = models.CharField(max_length=200)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    body_digest = models.CharField(max_length=64)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "idempotency records"
        constraints = [
            models.UniqueConstraint(
                fields=["caller", "session", "key"], name="one_turn_per_key"
            )
        ]

    def __str__(self) -> str:
        return self.key
