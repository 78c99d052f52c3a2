"""Prices in the file."""

from __future__ import annotations

from typing import Any

from sessions_app.models import Price, Provider
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.report import Outcome
from sessions_app.provision.section import Section


class PriceSection(Section[Price]):
    """Prices of models."""

    model = Price
    about = "What a model costs, in USD per million tokens."
    identity = ("provider", "model")
    fields = (
        Field("provider", f.TEXT, "The provider's name.", True, column="provider_id"),
        Field(
            "model",
            f.TEXT,
            "A model's name or a glob such as `gpt-*`; the most specific one wins.",
            True,
            f.up_to(200),
        ),
        Field("input", f.DECIMAL, "Price of the prompt.", True),
        Field("output", f.DECIMAL, "Price of the reply.", True),
        Field("cached_input", f.DECIMAL, "Price of what came from a prompt cache."),
        Field("cache_write", f.DECIMAL, "Price of what went into a prompt cache."),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        plan.require("provider", entry.values["provider"], entry, "provider")
        if not entry.values["model"]:
            raise entry.fault("[[price]] model must not be empty.", "model")

    def columns(self, entry: Entry) -> dict[str, Any]:
        provider = Provider.objects.get(name=entry.values["provider"])
        return {**super().columns(entry), "provider_id": provider.pk}

    def stored_names(self) -> set[str]:
        return set()  # nothing refers to a price

    def prune(self, section: str, plan: Plan) -> None:
        """Delete the unnamed prices of the providers that the file names."""
        named = {entry.names for entry in plan.entries.get(section, [])}
        stored = self.rows().filter(provider__name__in=plan.named("provider"))
        for price in stored.select_related("provider"):
            if (price.provider.name, price.model) not in named:
                plan.report.note(f"{section} {price}", Outcome.DELETED)
                price.delete()
