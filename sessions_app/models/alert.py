"""What an operator has to know and to mend."""

from __future__ import annotations

from django.db import models


class Alert(models.Model):
    """Stands until its cause is gone, or an operator deletes it.

    ``key`` names the cause, such as ``provider_auth:primary``: a cause that comes
    again is counted, not told again.
    """

    key = models.CharField(max_length=200, unique=True)
    text = models.TextField()
    count = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-last_at"]

    def __str__(self) -> str:
        return self.text
