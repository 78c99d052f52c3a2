"""Files that came with messages."""

from __future__ import annotations

from django.db import models

from sessions_app.domain import ids
from sessions_app.models.message import Message


def new_attachment_id() -> str:
    return ids.new_id(ids.FILE)


class Attachment(models.Model):
    """``media_type`` is what its bytes say, and ``size`` how many these are."""

    id = models.CharField(
        primary_key=True, max_length=40, default=new_attachment_id, editable=False
    )
    message = models.ForeignKey(
        Message, on_delete=models.CASCADE, related_name="attachments"
    )
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200)
    media_type = models.CharField(max_length=40)
    size = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ["message", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["message", "position"], name="one_attachment_per_position"
            )
        ]

    def __str__(self) -> str:
        return self.name
