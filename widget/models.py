"""Widget installations."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import (
    MaxLengthValidator,
    MaxValueValidator,
    MinValueValidator,
)
from django.db import models

from sessions_app.models import Agent
from sessions_app.models.agent import MAX_RETENTION_DAYS
from sessions_app.models.secret import EncryptedTextField
from widget import looks
from widget.origins import origin_fault

IDENTITY = ("optional", "required")
PROOF_OF_WORK = ("off", "auto", "on")
NO_SECRET = "Identity cannot be required without a secret to verify it with."
SHORT_SECRET = "Tokens need a secret of 32 characters or more."
SHORTEST_SECRET = 32
"""Bytes: as many as the HMAC-SHA256 of a token has (RFC 7518, 3.2)."""


def new_embed_key() -> str:
    return f"pk_{secrets.token_urlsafe(12)}"


def is_too_short(secret: str) -> bool:
    """Whether there is a secret, but no token could be signed with it."""
    return 0 < len(secret.encode()) < SHORTEST_SECRET


def check_origins(value: object) -> None:
    """Refuse a list that holds anything but origins."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError("Write a list of origins.")
    for entry in value:
        if fault := origin_fault(entry):
            raise ValidationError(fault)


def check_suggestions(value: object) -> None:
    """Refuse a list that holds anything but a few short questions."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValidationError("Write a list of questions.")
    _refuse(looks.suggestions_fault, value)


def check_line(value: str) -> None:
    _refuse(looks.line_fault, value)


def check_markup(value: str) -> None:
    _refuse(looks.markup_fault, value)


def check_accent(value: str) -> None:
    _refuse(looks.accent_fault, value)


def check_path(value: str) -> None:
    _refuse(looks.path_fault, value)


def _refuse(fault_of: Callable[[Any], str], value: object) -> None:
    if fault := fault_of(value):
        raise ValidationError(f"This {fault}")


class Farewell(models.Model):
    """A visitor whose tokens of before the deletion of all that was theirs are refused.

    ``visitor`` is a digest, for the name is to be forgotten; a token that was made
    later holds the ``mark``. The row goes when no older token can be valid any more.
    """

    visitor = models.CharField(primary_key=True, max_length=64)
    mark = models.CharField(max_length=22)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.visitor


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
    tokens_only = models.BooleanField(
        default=False,
        help_text="Refuse the hash of a user's id, which never ends: a signed token is"
        " the only proof of who a visitor is.",
    )
    proof_of_work = models.CharField(
        max_length=5,
        choices=[(each, each) for each in PROOF_OF_WORK],
        default="off",
        help_text="New visitors' browsers solve a puzzle first: never, always, or while"
        " the embed is close to its limits.",
    )
    is_enabled = models.BooleanField(default=True)
    attachments = models.BooleanField(
        default=False,
        help_text="Let visitors send images and text files, whatever its agent says.",
    )
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
    title = models.CharField(
        max_length=80, blank=True, default="Chat with us", validators=[check_line]
    )
    greeting = models.TextField(
        blank=True,
        default="Hello! How can I help?",
        validators=[MaxLengthValidator(looks.MAX_GREETING), check_markup],
        help_text="The first words in the panel; may be Markdown.",
    )
    placeholder = models.CharField(
        max_length=80,
        blank=True,
        default="",
        validators=[check_line],
        help_text="Shown in the empty text field.",
    )
    agent_name = models.CharField(
        max_length=80,
        blank=True,
        default="Assistant",
        validators=[check_line],
        help_text="Stands above the replies.",
    )
    suggestions = models.JSONField(
        default=list,
        blank=True,
        validators=[check_suggestions],
        help_text=f"Questions to begin with, at most {looks.MAX_SUGGESTIONS}.",
    )
    accent = models.CharField(
        max_length=20,
        blank=True,
        default="",
        validators=[check_accent],
        help_text="Such as #0b6e4f; empty is the widget's own.",
    )
    theme = models.CharField(
        max_length=5,
        default="auto",
        choices=[
            ("auto", "As the visitor's system"),
            ("light", "Light"),
            ("dark", "Dark"),
        ],
    )
    position = models.CharField(
        max_length=5,
        blank=True,
        default="",
        choices=[
            ("", "Where the page's lines end"),
            ("left", "Left"),
            ("right", "Right"),
        ],
    )
    radius = models.PositiveSmallIntegerField(
        "corner radius",
        null=True,
        blank=True,
        validators=[MaxValueValidator(looks.MAX_RADIUS)],
        help_text=f"Of the panel, in pixels, 0 to {looks.MAX_RADIUS}.",
    )
    launcher_label = models.CharField(
        max_length=looks.MAX_LABEL,
        blank=True,
        default="",
        validators=[check_line],
        help_text="Words beside the launcher's icon.",
    )
    collect_context = models.BooleanField(
        "ask for the page",
        default=False,
        help_text="Asks the visitor whether the chat may see which page they are on.",
    )
    open_after_s = models.FloatField(
        "comes forward after",
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(looks.MAX_WAIT_S)],
        help_text="Seconds on a page.",
    )
    open_on_path = models.CharField(
        "comes forward on paths",
        max_length=looks.MAX_PATH,
        blank=True,
        default="",
        validators=[check_path],
        help_text="Such as /pricing*.",
    )
    open_on_exit = models.BooleanField(
        "comes forward on leaving",
        default=False,
        help_text="When the pointer leaves for the top of the window.",
    )
    nudge = models.CharField(
        max_length=looks.MAX_NUDGE,
        blank=True,
        default="",
        validators=[check_line],
        help_text="What it says then, above the launcher; without it the chat opens.",
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
        if self.tokens_only and is_too_short(self.secret):
            raise ValidationError({"secret": SHORT_SECRET})
