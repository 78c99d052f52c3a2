"""Keys of servers, stored hashed."""

from __future__ import annotations

import hashlib

from django.core.exceptions import ValidationError
from django.db import models

from sessions_app.domain import ids
from sessions_app.models.checks import check_names

KEY_PREFIX = "lk_"
KEY_LENGTH = 43
"""Characters of a made key after its prefix: 256 bits."""
ALL_AGENTS = "*"
ALL_SESSIONS_SCOPE = "sessions.all"
OPERATOR_SCOPE = "operator"


def hash_key(key: str) -> str:
    """How a key is stored; keys are random, so a plain hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


def new_key() -> str:
    """A key that nobody can guess."""
    return KEY_PREFIX + ids.random_text(KEY_LENGTH)


def default_agents() -> list[str]:
    return [ALL_AGENTS]


def default_scopes() -> list[str]:
    return ["sessions", "completions"]


SCOPES = (*default_scopes(), ALL_SESSIONS_SCOPE, OPERATOR_SCOPE)


def check_scopes(value: object) -> None:
    """Refuse anything but a list of scopes."""
    check_names(value)
    for each in value:  # type: ignore[attr-defined]
        if each not in SCOPES:
            raise ValidationError(f"There is no scope {each!r}.")


class ApiKey(models.Model):
    """May do what its scopes and agents allow."""

    name = models.CharField(max_length=100, unique=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(max_length=16, editable=False, default="")
    agents = models.JSONField(default=default_agents, validators=[check_names])
    scopes = models.JSONField(default=default_scopes, validators=[check_scopes])
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "API key"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def set_key(self, key: str) -> None:
        """Keep the hash and a hint of the key, never the key."""
        self.digest = hash_key(key)
        self.hint = f"{key[:6]}…{key[-2:]}"
