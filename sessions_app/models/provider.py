"""Accounts at model providers, and what their models cost."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from sessions_app.domain.route import OUTPUTS, TEXT
from sessions_app.models.checks import check_texts
from sessions_app.models.secret import EncryptedTextField

LONGEST_WAIT_S = 3600
_WAIT = [MinValueValidator(0.01), MaxValueValidator(LONGEST_WAIT_S)]


class Provider(models.Model):
    """A configured account; ``kind`` picks the adapter."""

    name = models.SlugField(max_length=64, unique=True)
    kind = models.CharField(max_length=32, default="openai")
    service = models.CharField(
        max_length=32,
        blank=True,
        default="",
        help_text="A known service of the kind openai. Its address is filled in.",
    )
    base_url = models.CharField(max_length=500, blank=True, default="")
    api_key = EncryptedTextField(blank=True, default="")
    allow_private = models.BooleanField(
        default=False, help_text="The address may be a private one (a local model)."
    )
    command = models.JSONField(
        default=list,
        blank=True,
        validators=[check_texts],
        help_text="Of the kind exec: a list of the program and its arguments, such as"
        ' ["/opt/model/answer", "--fast"]. No shell reads it.',
    )
    output = models.CharField(
        max_length=8, default=TEXT, choices=[(form, form) for form in OUTPUTS]
    )
    text_path = models.CharField(
        max_length=200,
        blank=True,
        default="",
        help_text="Where each line of jsonl has the text, such as choices.0.text.",
    )
    is_enabled = models.BooleanField(default=True)
    connect_timeout_s = models.FloatField(default=5.0, validators=_WAIT)
    first_content_timeout_s = models.FloatField(default=30.0, validators=_WAIT)
    idle_timeout_s = models.FloatField(default=30.0, validators=_WAIT)

    context_tokens = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(256)],
        help_text="How much its models can be told, reply included; empty: by the"
        " model's name.",
    )
    cool_until = models.DateTimeField(
        null=True,
        editable=False,
        help_text="It asked to be left alone until then.",
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Price(models.Model):
    """USD per million tokens of the models that the glob matches."""

    provider = models.ForeignKey(
        Provider, on_delete=models.CASCADE, related_name="prices"
    )
    model = models.CharField(max_length=200, help_text="A glob such as gpt-*.")
    input = models.DecimalField(
        max_digits=18, decimal_places=8, validators=[MinValueValidator(0)]
    )
    output = models.DecimalField(
        max_digits=18, decimal_places=8, validators=[MinValueValidator(0)]
    )
    cached_input = models.DecimalField(
        max_digits=18,
        decimal_places=8,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    cache_write = models.DecimalField(
        max_digits=18,
        decimal_places=8,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )

    class Meta:
        ordering = ["provider__name", "model"]
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "model"], name="one_price_per_glob"
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"
