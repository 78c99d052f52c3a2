"""The limits of requests and turns that are in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from sessions_app.domain.errors import RateLimited
from sessions_app.models import ApiKey, RequestLimit
from sessions_app.store import sql
from sessions_app.store.budgets import Payer
from sessions_app.store.catalog import Kept

RETRY_AFTER_BUSY_S = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """Both by target; ``keys`` are names by caller."""

    per_minute: Mapping[str, int]
    turns: Mapping[str, int]
    keys: Mapping[str, str]

    @property
    def has_agents(self) -> bool:
        """Whether the agent of a request matters."""
        return any(on.startswith("agent:") for on in self.per_minute)


def _load() -> Limits:
    rows = list(RequestLimit.objects.filter(is_enabled=True))
    keys = ApiKey.objects.values_list("pk", "name") if rows else []
    return Limits(
        {
            row.on: row.requests_per_minute
            for row in rows
            if row.requests_per_minute is not None
        },
        {
            row.on: row.concurrent_turns
            for row in rows
            if row.concurrent_turns is not None
        },
        {f"key:{pk}": name for pk, name in keys},
    )


limits = Kept(_load, RequestLimit, ApiKey)


def require_room(payer: Payer) -> None:
    """Refuse a turn if as many sessions as are allowed have an unfinished one.

    Within the transaction that stores the turn. A session's own queue does not count
    again: it runs one turn at a time.
    """
    known = limits.get()
    if not known.turns:
        return
    for on, subject in sorted(payer.subjects(known.keys).items()):
        most = known.turns.get(on)
        if most is not None and _busy_sessions(on, subject, payer, most) >= most:
            raise RateLimited(
                "Too many replies are being written at the same time.",
                retry_after_s=RETRY_AFTER_BUSY_S,
                limit=on,
            )


def _busy_sessions(on: str, subject: str, payer: Payer, most: int) -> int:
    """How many other sessions of the subject are busy; holds others back till then."""
    if connection.vendor == "postgresql":
        # SQLite has locked the whole database by now.
        sql.rows("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", on + subject)
    where = {
        "agent": "a.slug = %s",
        "embed": "substr(s.owner, 1, length(%s)) = %s",
    }.get(on.partition(":")[0], "s.owner = %s")
    matched = [subject]
    if on.startswith("embed:"):
        matched = [f"visitor:{subject}:"] * 2
    ((found,),) = sql.rows(
        "SELECT COUNT(DISTINCT t.session_id) FROM sessions_app_turn t"
        " JOIN sessions_app_session s ON s.id = t.session_id"
        " JOIN sessions_app_agent a ON a.id = s.agent_id"
        f" WHERE t.state IN {sql.OPEN} AND t.operator = '' AND t.session_id <> %s"
        f" AND {where}",
        payer.session_id,
        *matched,
    )
    return int(found)
