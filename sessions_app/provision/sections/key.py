"""API keys in the file."""

from __future__ import annotations

import re
from typing import Any

from sessions_app.models import ApiKey
from sessions_app.models.api_key import (
    ALL_AGENTS,
    KEY_PREFIX,
    SCOPES,
    hash_key,
    new_key,
)
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.section import Section

MAX_KEY_LENGTH = 200

_KEY = re.compile(rf"{KEY_PREFIX}[!-~]+")


def check_key(key: str) -> None:
    """What can be sent as a bearer token of a server."""
    if not _KEY.fullmatch(key):
        raise Refused(f"must be {KEY_PREFIX!r} and printable ASCII without spaces.")
    f.up_to(MAX_KEY_LENGTH)(key)


class KeySection(Section[ApiKey]):
    """Keys of servers."""

    model = ApiKey
    about = "An API key of a server; only its hash is stored."
    identity = ("name",)
    fields = (
        Field("name", f.TEXT, "What the dashboard calls it.", True, f.up_to(100)),
        Field(
            "key",
            f.TEXT,
            f"`{KEY_PREFIX}` and a long random text. Left out, the stored key of this"
            " name stays, or one is made and printed once.",
            check=check_key,
            column="digest",
        ),
        Field("agents", f.TEXTS, f'Slugs of its agents; `"{ALL_AGENTS}"` is all.'),
        Field(
            "scopes",
            f.TEXTS,
            f"What it may do: {', '.join(SCOPES)}.",
            check=f.one_of(SCOPES),
        ),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        if not entry.names[0]:
            raise entry.fault("[[key]] name must not be empty.", "name")
        for index, slug in enumerate(entry.values.get("agents", [])):
            if slug != ALL_AGENTS:
                plan.require("agent", slug, entry, "agents", index)

    def columns(self, entry: Entry) -> dict[str, Any]:
        columns = super().columns(entry)
        columns.pop("digest", None)
        return columns

    def fill(self, row: ApiKey, entry: Entry, plan: Plan) -> list[str]:
        """Set the hash of a given key, or make one for a new row."""
        key = entry.values.get("key")
        if key is None and row.digest:
            return []
        if key is None:
            key = new_key()
            plan.report.keys[row.name] = key
        elif row.digest == hash_key(key):
            return []
        elif other := self.rows().filter(digest=hash_key(key)).first():
            raise entry.fault(f"This key belongs to the key {other.name!r}.", "key")
        row.set_key(key)
        return ["key"]
