"""Who holds a key: asked at each request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sessions_app.store import sql

COLUMNS = "SELECT id, name, agents, scopes FROM sessions_app_apikey WHERE is_enabled"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key that is in use; ``agents`` and ``scopes`` are what its row says."""

    pk: int
    name: str
    agents: Any
    scopes: Any


def key_of_digest(digest: str) -> StoredKey | None:
    """The key that has this hash, if it may be used."""
    return _key("digest", digest)


def key_of_id(pk: str) -> StoredKey | None:
    """The key of that id, if it may be used."""
    return _key("id", int(pk)) if pk.isdecimal() else None


def _key(column: str, value: str | int) -> StoredKey | None:
    for pk, name, agents, scopes in sql.rows(f"{COLUMNS} AND {column} = %s", value):
        return StoredKey(pk, name, sql.decoded(agents), sql.decoded(scopes))
    return None
