"""Attempts: one request to one provider, with what it used and cost."""

from __future__ import annotations

from django.db import models

from sessions_app.domain import ids
from sessions_app.models.turn import Turn


def new_attempt_id() -> str:
    return ids.new_id(ids.ATTEMPT)


class Attempt(models.Model):
    """``status`` is completed, failed or cancelled; times in milliseconds."""

    id = models.CharField(
        primary_key=True, max_length=40, default=new_attempt_id, editable=False
    )
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    round = models.PositiveSmallIntegerField()
    provider = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    status = models.CharField(max_length=16)
    error_code = models.CharField(max_length=40, blank=True, default="")
    error_status = models.IntegerField(null=True)
    diagnosis = models.TextField(blank=True, default="")
    stop_reason = models.CharField(max_length=20, blank=True, default="")
    price = models.JSONField(null=True, blank=True)
    ttft_ms = models.PositiveIntegerField(null=True)
    duration_ms = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    cached_tokens_in = models.PositiveIntegerField(default=0)
    cache_write_tokens_in = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=24, decimal_places=12, null=True)
    is_estimated = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["turn", "number"]
        indexes = [
            models.Index(fields=["provider", "created_at"], name="attempts_by_provider")
        ]

    def __str__(self) -> str:
        return self.id
