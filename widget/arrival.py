"""Who comes: a visitor that is known, a user of the site, or somebody new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app import service
from sessions_app.domain.errors import IdentityRequired
from sessions_app.edge.pace import Act, take
from widget import tokens
from widget.farewell import mark_of
from widget.identity import User, is_user, verified_user
from widget.models import Embed
from widget.proof import require_proof


@dataclass(frozen=True, slots=True)
class Arrival:
    """``visitor_id`` None is somebody new; ``former`` is who the user was until now."""

    visitor_id: str | None
    user: User | None = None
    former: str | None = None


def arrive(embed: Embed, body: Mapping[str, Any]) -> tokens.Claim:
    """Whom the visitor's token is for, on a page that may have it.

    Sessions of a visitor without a name who now has one come along, once: only by that
    visitor's own token, in the same call. Those of another user never do.
    """
    arrival = _recognise(embed, body)
    if arrival.visitor_id is None:
        require_proof(embed, body.get("proof"))
    take(Act.BOOTSTRAP, tokens.subjects_of(embed, arrival.visitor_id))
    visitor_id = arrival.visitor_id or tokens.new_visitor_id()
    mark = mark_of(tokens.caller_name(embed.key, visitor_id))
    claim = tokens.Claim(embed.key, visitor_id, arrival.user, mark)
    if arrival.former is not None:
        former = tokens.caller_name(embed.key, arrival.former)
        service.hand_over_sessions(former, tokens.caller_of(embed, claim))
    return claim


def _recognise(embed: Embed, body: Mapping[str, Any]) -> Arrival:
    older = tokens.renewed(embed, body.get("visitor", ""))
    identity = body.get("identity")
    if identity is not None:
        user = verified_user(embed, identity)
        if older is None or is_user(older.visitor_id):
            return Arrival(user.visitor_id, user)
        return Arrival(user.visitor_id, user, older.visitor_id)
    if embed.is_identity_required:
        raise IdentityRequired()
    if older is None:
        return Arrival(None)
    return Arrival(older.visitor_id, older.user)
