"""Who is asking: credentials to principals, the same for REST and live streams."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from django.contrib.auth import SESSION_KEY, get_user, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.core import signing
from django.http import HttpRequest

from sessions_app.domain.errors import NotAllowed, Unauthorized
from sessions_app.domain.lists import texts_fault, texts_of
from sessions_app.models.api_key import (
    ALL_AGENTS,
    ALL_SESSIONS_SCOPE,
    KEY_PREFIX,
    hash_key,
)
from sessions_app.service import Caller
from sessions_app.store.keys import StoredKey, key_of_digest, key_of_id
from sessions_app.store.sessions import SessionFilter
from sessions_app.store.together import once

logger = logging.getLogger(__name__)

TICKET_PREFIX = "lt_"
TICKET_LIFE_S = 60
_TICKET_SALT = "lantern.ticket"
MAX_CREDENTIAL_LENGTH = 4096
MAX_NAME_LENGTH = 100

Kind = Literal["key", "visitor", "staff"]
Right = Literal["add", "change", "delete"]
ALL_RIGHTS: frozenset[Right] = frozenset(("add", "change", "delete"))


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller; ``embed`` is the widget that a visitor came through.

    ``rights`` are what it may do to sessions beside reading them.

    ``name`` is what visitors read when it answers them; only staff have one.
    """

    kind: Kind
    caller: Caller
    scopes: frozenset[str] = field(default=frozenset())
    embed: str = ""
    rights: frozenset[Right] = ALL_RIGHTS
    name: str = ""

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def pk(self) -> str:
        return self.caller.name

    def require_scope(self, scope: str) -> None:
        """Refuse a key that lacks a scope; the other kinds have none."""
        if self.kind == "key" and scope not in self.scopes:
            raise NotAllowed(f"This key lacks the scope {scope!r}.")

    def require_write(self, right: Right = "change") -> None:
        """Refuse staff that the dashboard would refuse, with NotAllowed."""
        if right not in self.rights:
            raise NotAllowed(f"Your account may not {right} sessions.")


Credential = Callable[[str, str | None], Principal]
"""From a token and the request's Origin to a principal.

Raises Unauthorized, NotAllowed or ForbiddenOrigin.
"""

_credentials: dict[str, Credential] = {}
_reloaders: dict[str, Credential] = {}


def register_credential(
    prefix: str, authenticate: Credential, reload: Credential | None = None
) -> None:
    """Add a kind of bearer token; ``reload`` finds its principal by caller name."""
    _credentials[prefix] = authenticate
    if reload is not None:
        _reloaders[prefix] = reload


def principal_of_token(token: str, origin: str | None) -> Principal:
    """The principal of a bearer token, or what ``Credential`` raises."""
    if len(token) <= MAX_CREDENTIAL_LENGTH:
        if token.startswith(KEY_PREFIX):
            digest = hash_key(token)
            key = once(("key", digest), lambda: key_of_digest(digest))
            return _key_principal(key)
        for prefix, authenticate in _credentials.items():
            if token.startswith(prefix):
                return authenticate(token, origin)
    raise Unauthorized()


def _key_principal(key: StoredKey | None) -> Principal:
    if key is None:
        raise Unauthorized()
    allowed = _allowed(key, "agents", key.agents)
    agents = None if ALL_AGENTS in allowed else allowed
    name = f"key:{key.pk}"
    scopes = _allowed(key, "scopes", key.scopes)
    if ALL_SESSIONS_SCOPE in scopes:
        scope = SessionFilter(agents=agents)
    else:
        scope = SessionFilter(owner=name)
    return Principal("key", Caller(name, scope, agents), scopes)


def _allowed(key: StoredKey, column: str, value: object) -> frozenset[str]:
    """What a key may; nothing where its row is malformed, as ``"*"`` without a list."""
    if fault := texts_fault(value):
        logger.error("The %s of the key %s: this %s", column, key.name, fault)
        return frozenset()
    return frozenset(texts_of(value))


def principal_of_cookie(session_key: str | None) -> Principal:
    """The principal of Django's session cookie: staff with the right to look."""
    if not session_key:
        raise Unauthorized()
    request = HttpRequest()
    request.session = SessionStore(session_key)
    if SESSION_KEY not in request.session:
        raise Unauthorized()
    return principal_of_user(get_user(request))


def principal_of_user(user: object) -> Principal:
    """A staff member's principal, by the permissions of the admin."""
    is_staff = getattr(user, "is_active", False) and getattr(user, "is_staff", False)
    if not is_staff or not user.has_perm("sessions_app.view_session"):  # type: ignore[attr-defined]
        raise Unauthorized()
    rights = frozenset(
        right
        for right in ALL_RIGHTS
        if user.has_perm(f"sessions_app.{right}_session")  # type: ignore[attr-defined]
    )
    name = f"staff:{user.pk}"  # type: ignore[attr-defined]
    caller = Caller(name, SessionFilter())
    return Principal("staff", caller, rights=rights, name=shown_name(user))


def shown_name(user: object) -> str:
    """What visitors read of a staff member: the first name, else the login's."""
    first_name = str(getattr(user, "first_name", "")).strip()
    return (first_name or str(user))[:MAX_NAME_LENGTH]


def issue_ticket(principal: Principal, session_id: str) -> str:
    """A ticket for the events of one session, good for a minute."""
    claim = {"c": principal.caller.name, "s": session_id}
    return TICKET_PREFIX + signing.dumps(claim, salt=_TICKET_SALT, compress=True)


def principal_of_ticket(ticket: str, session_id: str, origin: str | None) -> Principal:
    """The principal behind a ticket, with the rights it has now."""
    if not ticket.startswith(TICKET_PREFIX) or len(ticket) > MAX_CREDENTIAL_LENGTH:
        raise Unauthorized()
    try:
        claim = signing.loads(
            ticket.removeprefix(TICKET_PREFIX), salt=_TICKET_SALT, max_age=TICKET_LIFE_S
        )
    except signing.BadSignature as error:
        raise Unauthorized("The ticket is not valid any more.") from error
    if not hmac.compare_digest(claim["s"], session_id):
        raise Unauthorized("The ticket is for another session.")
    return principal_of_name(claim["c"], origin)


def principal_of_name(name: str, origin: str | None) -> Principal:
    """The principal of a caller name, with the rights it has now."""
    kind, _, rest = name.partition(":")
    if kind == "key":
        return _key_principal(key_of_id(rest))
    if kind == "staff":
        return principal_of_user(get_user_model().objects.filter(pk=rest).first())
    for reload in _reloaders.values():
        return reload(name, origin)
    raise Unauthorized()
