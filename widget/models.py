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

IDENTITY = ("optional", "required")
PROOF_OF_WORK = ("off", "auto", "on")
NO_SECRET = "Identity cannot be required without a secret to verify it with."


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
    identity = models.CharField(
        max_length=10,
        choices=[(each, each) for each in IDENTITY],
        default="optional",
        help_text="Whether visitors must be users of your own, signed in.",
    )
    proof_of_work = models.CharField(
        max_length=5,
        choices=[(each, each) for each in PROOF_OF_WORK],
        default="off",
        help_text="New visitors' browsers solve a puzzle first: never, always, or while"
        " the embed is close to its limits.",
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
    page_tool = models.BooleanField(
        default=False,
        help_text="The model may look at the page the visitor is on, if they agree.",
    )

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.key

    @property
    def is_identity_required(self) -> bool:
        """Whether a visitor without a name may not chat."""
        return self.identity == "required"

    def clean(self) -> None:
        """Refuse an embed that would let nobody in."""
        if self.is_identity_required and not self.secret:
            raise ValidationError({"identity": NO_SECRET})
