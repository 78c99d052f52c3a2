"""Tools as the host sets them up."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models

from sessions_app.domain.tooling import TOOL_KINDS, TOOL_NAME
from sessions_app.models.checks import check_headers, check_object
from sessions_app.models.secret import EncryptedTextField


class Tool(models.Model):
    """One tool, or one MCP server; agents name those that they may use."""

    name = models.CharField(
        max_length=64,
        unique=True,
        validators=[RegexValidator(rf"^{TOOL_NAME.pattern}$")],
        help_text="Letters, digits, hyphens and underscores; the model sees it.",
    )
    kind = models.CharField(
        max_length=16, choices=[(kind, kind) for kind in TOOL_KINDS], default="http"
    )
    description = models.TextField(
        blank=True, default="", help_text="When to use it; the model reads this."
    )
    settings = models.JSONField(
        default=dict,
        blank=True,
        validators=[check_object],
        help_text="http: url, method, input_schema, query, body. python: path."
        " mcp: command (a list) or url.",
    )
    headers = EncryptedTextField(
        blank=True,
        default="",
        validators=[check_headers],
        help_text="A JSON object of HTTP headers; stored encrypted.",
    )
    allow_private = models.BooleanField(
        default=False, help_text="May be at a private address."
    )
    needs_approval = models.BooleanField(
        default=False, help_text="Somebody says yes before each call."
    )
    is_enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
