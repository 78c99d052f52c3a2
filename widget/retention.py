"""How long the conversations of the embeds are kept."""

from __future__ import annotations

from collections.abc import Iterator

from sessions_app.store.retention import Rule
from widget.models import Embed
from widget.tokens import owner_prefix


def embed_rules() -> Iterator[Rule]:
    """One rule for each embed that says so; a disabled one still does."""
    embeds = Embed.objects.exclude(retention_days=None)
    for key, days in embeds.values_list("key", "retention_days"):
        yield Rule(f"embed {key}", days or 0, owners=owner_prefix(key))
