"""The embeds as everybody may ask for them: in memory, so that it costs little."""

from __future__ import annotations

from collections.abc import Mapping

from sessions_app.models import Agent
from sessions_app.store.catalog import Kept
from widget.models import Embed


def _load() -> Mapping[str, Embed]:
    # To read each secret would take longer than the query.
    rows = Embed.objects.filter(is_enabled=True).select_related("agent").defer("secret")
    return {row.key: row for row in rows.order_by("pk")}


known_embeds = Kept(_load, Embed, Agent)
"""Those that are enabled, by key, without their secrets; reads the database now and
then, so use a thread."""
