"""Visitor tokens: one browser, one visitor, one embed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core import signing

from sessions_app.conf import conf
from sessions_app.domain import ids
from sessions_app.domain.errors import (
    ForbiddenOrigin,
    IdentityRequired,
    NotAllowed,
    Unauthorized,
)
from sessions_app.edge.auth import Principal
from sessions_app.service import Caller
from sessions_app.store.sessions import SessionFilter
from sessions_app.store.together import once
from widget.farewell import mark_of
from widget.identity import User, is_user, visitor_of_user
from widget.models import Embed
from widget.origins import is_origin_listed

VISITOR_PREFIX = "lv_"
KEY_PREFIX = "pk_"
KEY_OPENS_NOTHING = (
    "The public key of an embed names it to its widget, and opens nothing: write an API"
    " key here."
)
RENEWABLE_S = 30 * 24 * 3600
NOT_VALID = "The visitor token is not valid any more."
_SALT = "lantern.visitor"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a visitor token says; ``user`` is None for a visitor without a name.

    ``mark`` tells it from tokens of before the visitor had everything deleted.
    """

    embed_key: str
    visitor_id: str
    user: User | None = None
    mark: str = ""

    @property
    def is_current(self) -> bool:
        """Whether nothing was deleted since, or nobody remembers."""
        mark = mark_of(caller_name(self.embed_key, self.visitor_id))
        return mark in ("", self.mark)


def issue(claim: Claim) -> str:
    """A token that says so."""
    said: dict[str, Any] = {"e": claim.embed_key, "v": claim.visitor_id}
    if claim.user is not None:
        said |= {"u": claim.user.id, "p": dict(claim.user.profile)}
        if claim.user.by_token:
            said["t"] = 1
    if claim.mark:
        said["m"] = claim.mark
    return VISITOR_PREFIX + signing.dumps(said, salt=_SALT, compress=True)


def renewed(embed: Embed, token: str) -> Claim | None:
    """What an older token of this embed says; None if it is no good any more."""
    try:
        claim = _read(token, RENEWABLE_S)
    except Unauthorized:
        return None
    is_proved = claim.user is None or claim.user.by_token or not embed.tokens_only
    is_good = claim.embed_key == embed.key and is_proved and claim.is_current
    return claim if is_good else None


def new_visitor_id() -> str:
    """A visitor that nobody knows yet."""
    return ids.random_text(ids.LENGTH)


def owner_prefix(embed_key: str) -> str:
    """What the names of all visitors of an embed begin with, as callers."""
    return f"visitor:{embed_key}:"


def caller_name(embed_key: str, visitor_id: str) -> str:
    """Who owns what a visitor makes."""
    return owner_prefix(embed_key) + visitor_id


def subjects_of(embed: Embed, visitor_id: str | None) -> dict[str, str]:
    """On whose limits a start of the widget counts; None is a new visitor."""
    slug = embed.agent.slug
    subjects = {f"embed:{embed.key}": embed.key, f"agent:{slug}": slug}
    if visitor_id is not None:
        subjects["visitor"] = caller_name(embed.key, visitor_id)
    return subjects


def owners_of_user(user_id: str) -> list[str]:
    """As which callers a verified user may own sessions, one for each embed."""
    visitor_id = visitor_of_user(user_id)
    keys = Embed.objects.values_list("key", flat=True)
    return [owner_prefix(key) + visitor_id for key in keys]


def brings_key(headers: Mapping[str, str]) -> bool:
    """Whether a public key stands where clients of either dialect write theirs."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer" and token.startswith(KEY_PREFIX)
    return is_bearer or headers.get("x-api-key", "").startswith(KEY_PREFIX)


def refuse_key(token: str, origin: str | None) -> Principal:
    """No public key is a credential, whether there is such an embed or not."""
    raise NotAllowed(KEY_OPENS_NOTHING)


def visitor_principal(token: str, origin: str | None) -> Principal:
    """Authenticate a visitor token for the edge."""
    claim = _read(token, conf().visitor_token_s)
    principal = _principal(claim, origin)
    if not claim.is_current:
        raise Unauthorized(NOT_VALID)
    return principal


def visitor_by_name(name: str, origin: str | None) -> Principal:
    """The principal of a caller name such as ``visitor:pk_shop:abc``."""
    kind, _, rest = name.partition(":")
    key, _, visitor_id = rest.rpartition(":")
    if kind != "visitor":
        raise Unauthorized()
    return _principal(Claim(key, visitor_id), origin)


def _principal(claim: Claim, origin: str | None) -> Principal:
    key = claim.embed_key
    embeds = Embed.objects.select_related("agent").filter(key=key)
    embed = once(("embed", key), embeds.first)
    if embed is None or not embed.is_enabled:
        raise Unauthorized()
    if origin is not None and not is_origin_listed(origin, embed.origins):
        raise ForbiddenOrigin()
    if embed.is_identity_required and not is_user(claim.visitor_id):
        raise IdentityRequired()
    return Principal("visitor", caller_of(embed, claim), embed=key)


def caller_of(embed: Embed, claim: Claim) -> Caller:
    """The visitor as the service knows callers."""
    name, user = caller_name(embed.key, claim.visitor_id), claim.user
    return Caller(
        name=name,
        scope=SessionFilter(owner=name),
        agents=frozenset([embed.agent.slug]),
        agent=embed.agent.slug,
        user=user.id if user else "",
        profile=user.profile if user else {},
        may_attach=embed.attachments,
    )


def _read(token: str, max_age_s: float) -> Claim:
    if not token.startswith(VISITOR_PREFIX):
        raise Unauthorized()
    try:
        claim = signing.loads(
            token.removeprefix(VISITOR_PREFIX),
            salt=_SALT,
            max_age=timedelta(seconds=max_age_s),
        )
    except signing.BadSignature as error:
        raise Unauthorized(NOT_VALID) from error
    user = User(claim["u"], claim["p"], "t" in claim) if "u" in claim else None
    return Claim(claim["e"], claim["v"], user, claim.get("m", ""))
