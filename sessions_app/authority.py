"""What not everybody who may edit the dashboard's forms may set up."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from sessions_app.domain.tooling import MCP, PYTHON

SECRET_STAYS = "The address is another one now: write this again, or it would go there."
ONLY_A_SUPERUSER = "Only a superuser may open private addresses."


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a row's requests go, and whether that may be inside."""

    url: str
    allow_private: bool


def may_run(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether this user may say what the server runs: more than to edit a row."""
    return bool(getattr(user, "is_superuser", False))


def tool_runs_here(kind: str, settings: object) -> bool:
    """Whether a tool set up so is code that runs as the server's user.

    A Python path counts from the moment it is looked at, since that imports it.
    """
    if kind == PYTHON:
        return True
    return kind == MCP and isinstance(settings, dict) and bool(settings.get("command"))


def moves_away(old: Reach, new: Reach) -> bool:
    """Whether what is sent along would go to another server than it was written for.

    A stored secret is shown to nobody, so nobody may have it sent where they like.
    """
    return _origin(old.url) != _origin(new.url)


def opens_inside(old: Reach, new: Reach) -> bool:
    """Whether the row would reach private addresses that it did not reach before."""
    return new.allow_private and not (old.allow_private and old.url == new.url)


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, (parts.hostname or "").lower(), parts.port
    except ValueError:
        return url, "", None
