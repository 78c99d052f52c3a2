"""Tool calls of a turn and what came of them."""

from __future__ import annotations

from django.db import models

from sessions_app.models.turn import Turn


class ToolCall(models.Model):
    """``status`` is a CallStatus; a started one is never run again."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_calls")
    call_id = models.CharField(max_length=200)
    round = models.PositiveSmallIntegerField()
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200)
    arguments = models.JSONField(default=dict)
    status = models.CharField(max_length=16, default="started")
    result = models.TextField(blank=True, default="")
    error = models.TextField(blank=True, default="")
    duration_ms = models.PositiveIntegerField(default=0)
    is_awaited = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["turn", "round", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "round", "position"], name="one_call_per_position"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.call_id}"
