"""Widget installations."""

from __future__ import annotations

import secrets

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models

from sessions_app.models import Agent
from sessions_app.models.agent import MAX_RETENTION_DAYS
from sessions_app.models.secret import EncryptedTextField
from widget.origins import origin_fault


def new_embed_key() -> str:
    return f"pk_{secrets.token_urlsafe(12)}"


def check_origins(value: object) -> None:
    """Refuse a list that holds anything but origins."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError("Write a list of origins.")
    for entry in value:
        if fault := origin_fault(entry):
            raise ValidationError(fault)


class Embed(models.Model):
    """One widget on one or more sites; ``key`` is public."""

    key = models.CharField(max_length=64, unique=True, default=new_embed_key)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="embeds")
    origins = models.JSONField(
        default=list,
        blank=True,
        validators=[check_origins],
        help_text='Such as ["https://shop.example"]; an empty list means nobody.',
    )
    secret = EncryptedTextField(
        blank=True, default="", help_text="Signs the identity of your own users."
    )
    is_enabled = models.BooleanField(default=True)
    title = models.CharField(max_length=80, blank=True, default="Chat with us")
    greeting = models.TextField(blank=True, default="Hello! How can I help?")
    placeholder = models.CharField(max_length=80, blank=True, default="")
    accent = models.CharField(max_length=20, blank=True, default="")
    agent_name = models.CharField(max_length=80, blank=True, default="Assistant")
    retention_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_RETENTION_DAYS)],
        help_text="Remove the texts of its conversations so many days after they were"
        " last used; 0: as soon as they rest. Where its agent says something else, the"
        " shorter time counts.",
    )

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.key
