"""What not everybody who may edit the dashboard's forms may set up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from sessions_app.domain.tooling import MCP, PYTHON
from sessions_app.models.api_key import (
    ALL_AGENTS,
    ALL_SESSIONS_SCOPE,
    OPERATOR_SCOPE,
)

SESSION_RIGHTS_OF: Mapping[str, tuple[str, ...]] = {
    ALL_SESSIONS_SCOPE: ("view", "change", "delete"),
    OPERATOR_SCOPE: ("view", "change"),
}
"""What a key with the scope may do to conversations that are not its own."""
SECRET_STAYS = "The address is another one now: write this again, or it would go there."
ONLY_A_SUPERUSER = "Only a superuser may open private addresses."


@dataclass(frozen=True, slots=True)
class Grant:
    """What a key gives whoever holds it; nothing while it is disabled."""

    scopes: frozenset[str]
    agents: frozenset[str]

    @classmethod
    def of(
        cls, scopes: Iterable[str], agents: Iterable[str], is_enabled: bool
    ) -> Grant:
        """The grant of a key's row or form."""
        if not is_enabled:
            return cls(frozenset(), frozenset())
        return cls(frozenset(scopes), frozenset(agents))

    def beyond(self, old: Grant) -> frozenset[str]:
        """The scopes that are new, or hold for agents for which they did not."""
        is_wider = ALL_AGENTS not in old.agents and bool(self.agents - old.agents)
        return self.scopes if is_wider else self.scopes - old.scopes


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a row's requests go, and whether that may be inside."""

    url: str
    allow_private: bool


def may_run(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Whether this user may say what the server runs: more than to edit a row."""
    return bool(getattr(user, "is_superuser", False))


def may_do_to_sessions(
    user: AbstractBaseUser | AnonymousUser, rights: Iterable[str]
) -> bool:
    """Whether this user has each of these rights to conversations."""
    has_perm = getattr(user, "has_perm", None)
    return has_perm is not None and all(
        has_perm(f"sessions_app.{right}_session") for right in rights
    )


def scopes_out_of_reach(user: AbstractBaseUser | AnonymousUser) -> frozenset[str]:
    """The scopes of keys with which this user could do more than in the dashboard."""
    return frozenset(
        scope
        for scope, rights in SESSION_RIGHTS_OF.items()
        if not may_do_to_sessions(user, rights)
    )


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
