"""What not everybody who may edit the dashboard's forms may set up."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from sessions_app.domain.tooling import MCP, PYTHON


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
