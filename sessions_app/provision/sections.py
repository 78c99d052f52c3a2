"""The sections of the server itself: providers, prices, agents and keys."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from sessions_app.domain import ids
from sessions_app.domain.route import split_route_entry
from sessions_app.models import Agent, ApiKey, Price, Provider
from sessions_app.models.api_key import (
    ALL_AGENTS,
    ALL_SESSIONS_SCOPE,
    KEY_PREFIX,
    default_scopes,
    hash_key,
)
from sessions_app.providers.registry import ADAPTERS
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.report import Outcome
from sessions_app.provision.section import Section
from sessions_app.tools.registry import TOOLS

KEY_LENGTH = 43
MAX_KEY_LENGTH = 200
KINDS_WITH_URL = ("openai",)
SHORTEST_WAIT_S = 0.01

_KEY = re.compile(rf"{KEY_PREFIX}[!-~]+")


def check_base_url(url: str) -> None:
    """An http(s) address to which paths can be added."""
    f.up_to(500)(url)
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    if not has_host or parts.scheme not in ("http", "https") or re.search(r"\s", url):
        raise Refused("must be an address such as https://api.example.com/v1.")
    if "?" in url or "#" in url:
        raise Refused("must be an address without a query or fragment.")
    if "@" in parts.netloc:
        raise Refused("must not hold a user or password; use api_key.")


def check_key(key: str) -> None:
    """What can be sent as a bearer token of a server."""
    if not _KEY.fullmatch(key):
        raise Refused(f"must be {KEY_PREFIX!r} and printable ASCII without spaces.")
    f.up_to(MAX_KEY_LENGTH)(key)


def check_route_entry(entry: str) -> None:
    """``provider/model``."""
    try:
        split_route_entry(entry)
    except ValueError as error:
        raise Refused(f"must be of the form provider/model, not {entry!r}.") from error


def _timeout(name: str, help_text: str) -> Field:
    check = f.within(SHORTEST_WAIT_S, f.LONGEST_WAIT_S)
    return Field(name, f.NUMBER, f"{help_text}, in seconds.", check=check)


class ProviderSection(Section[Provider]):
    """Accounts at model providers."""

    model = Provider
    about = "An account at a model provider."
    identity = ("name",)
    fields = (
        Field("name", f.TEXT, "What routes call it.", True, f.slug_up_to(64)),
        Field(
            "kind",
            f.TEXT,
            f"Which API it speaks: {', '.join(sorted(ADAPTERS))}.",
            True,
            f.one_of(ADAPTERS),
        ),
        Field(
            "base_url",
            f.TEXT,
            "Where the API begins, mostly with `/v1` at the end;"
            f" needed for {', '.join(KINDS_WITH_URL)}.",
            check=check_base_url,
        ),
        Field("api_key", f.TEXT, "Sent to the provider; stored encrypted."),
        Field(
            "allow_private",
            f.FLAG,
            "Whether it may be at a private address (a local model).",
        ),
        _timeout("connect_timeout_s", "Limit for the connection"),
        _timeout("first_content_timeout_s", "Limit for the first content"),
        _timeout("idle_timeout_s", "Limit for a silence in the reply"),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        kind = entry.values["kind"]
        if kind in KINDS_WITH_URL and "base_url" not in entry.values:
            raise entry.fault(
                f"[[provider]] of kind {kind!r} needs the key 'base_url'."
            )


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


class AgentSection(Section[Agent]):
    """What answers sessions."""

    model = Agent
    about = "What answers a session: a prompt, a route of models, and tools."
    identity = ("slug",)
    unsupported = ("stream_last_round", "retention_days")
    fields = (
        Field("slug", f.TEXT, "What clients call it.", True, f.slug_up_to(100)),
        Field(
            "default",
            f.FLAG,
            "Whether it answers where no agent is named; takes this from any other.",
            column="is_default",
        ),
        Field("system_prompt", f.TEXT, "What the model is told first."),
        Field(
            "route",
            f.TEXTS,
            "Candidates as `provider/model`, tried in order.",
            True,
            check_route_entry,
        ),
        Field(
            "tools",
            f.TEXTS,
            f"Tools that it may use: {', '.join(sorted(TOOLS))}.",
            check=f.one_of(TOOLS),
        ),
        Field(
            "canned_reply",
            f.TEXT,
            "Sent when every provider failed before the first word.",
        ),
        Field(
            "max_output_tokens",
            f.INTEGER,
            "Limit of one reply.",
            check=f.within(1, f.LARGEST_INTEGER),
        ),
        Field("temperature", f.NUMBER, "From 0 to 2.", check=f.within(0, 2)),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        if not entry.values["route"]:
            raise entry.fault("[[agent]] route must not be empty.", "route")
        for index, step in enumerate(entry.values["route"]):
            provider, _ = split_route_entry(step)
            plan.require("provider", provider, entry, "route", index)

    def check_all(self, entries: list[Entry], plan: Plan) -> None:
        super().check_all(entries, plan)
        defaults = [entry for entry in entries if entry.values.get("default")]
        if len(defaults) > 1:
            raise defaults[1].fault(
                f"The {defaults[0].label} is the default already; there is only one.",
                "default",
            )

    def prepare(self, entries: list[Entry], plan: Plan) -> None:
        """Take the default from the others first: at no time may there be two."""
        for entry in entries:
            if not entry.values.get("default"):
                continue
            others = self.rows().filter(is_default=True).exclude(slug=entry.names[0])
            for agent in others:
                agent.is_default = False
                agent.save(update_fields=["is_default"])
                plan.report.note(f"agent {agent.slug}", Outcome.CHANGED, ["default"])


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
            f"What it may do: {', '.join([*default_scopes(), ALL_SESSIONS_SCOPE])}.",
            check=f.one_of([*default_scopes(), ALL_SESSIONS_SCOPE]),
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
            key = KEY_PREFIX + ids.random_text(KEY_LENGTH)
            plan.report.keys[row.name] = key
        elif row.digest == hash_key(key):
            return []
        elif other := self.rows().filter(digest=hash_key(key)).first():
            raise entry.fault(f"This key belongs to the key {other.name!r}.", "key")
        row.set_key(key)
        return ["key"]
