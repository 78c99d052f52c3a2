"""Agents: a prompt, a route of models, and tools, under one slug."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from sessions_app.models.checks import check_names, check_route

MAX_RETENTION_DAYS = 36_500
MAX_TEMPERATURE = 2
MAX_TOKENS = 2_147_483_647


class Agent(models.Model):
    """What answers a session."""

    slug = models.SlugField(max_length=100, unique=True)
    is_default = models.BooleanField(default=False)
    is_enabled = models.BooleanField(default=True)
    system_prompt = models.TextField(blank=True, default="")
    route = models.JSONField(
        default=list,
        validators=[check_route],
        help_text='Candidates in order, such as ["primary/gpt-x"].',
    )
    tools = models.JSONField(
        default=list,
        blank=True,
        validators=[check_names],
        help_text="Names of tools.",
    )
    stream_last_round = models.BooleanField(
        default=False,
        help_text="Show text as it comes in turns with tools, too.",
    )
    canned_reply = models.TextField(
        blank=True,
        default="Give me a second, please.",
        help_text="Sent when every provider failed before the first word.",
    )
    max_output_tokens = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TOKENS)],
    )
    context_tokens = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(256), MaxValueValidator(MAX_TOKENS)],
        help_text="The most that a model is told, reply included: older turns are left"
        " out beyond that. Empty: as much as the model takes.",
    )
    memory = models.BooleanField(
        default=False,
        help_text="Have the model summarise what its window has no room for any more.",
    )
    temperature = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(MAX_TEMPERATURE)],
    )
    attachments = models.BooleanField(
        default=False,
        help_text="Take images and text files with messages; its models must know"
        " images.",
    )
    retention_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_RETENTION_DAYS)],
        help_text="Remove the texts of its conversations so many days after they were"
        " last used; 0: as soon as they rest. Empty: they are kept.",
    )

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.UniqueConstraint(
                fields=["is_default"],
                condition=Q(is_default=True),
                name="one_default_agent",
            )
        ]

    def __str__(self) -> str:
        return self.slug
