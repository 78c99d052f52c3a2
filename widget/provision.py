"""The section of embeds in the configuration file."""

from __future__ import annotations

import re
from typing import Any

from sessions_app.models import Agent
from sessions_app.models.agent import MAX_RETENTION_DAYS
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.section import Section
from widget.models import IDENTITY, NO_SECRET, PROOF_OF_WORK, Embed
from widget.origins import origin_fault

_KEY = re.compile(r"pk_[A-Za-z0-9_-]+")


def check_key(key: str) -> None:
    """A public key, as it stands in the script's tag."""
    if not _KEY.fullmatch(key):
        raise Refused("must be 'pk_' and letters, digits, hyphens or underscores.")
    f.up_to(64)(key)


def check_origin(entry: str) -> None:
    """An origin, or all hosts below one."""
    if fault := origin_fault(entry):
        raise Refused(f"cannot be used: {fault}")


class EmbedSection(Section[Embed]):
    """Widgets on sites."""

    model = Embed
    about = "A widget on one or more sites."
    identity = ("key",)
    fields = (
        Field(
            "key", f.TEXT, "`pk_…`, public: the script's `data-key`.", True, check_key
        ),
        Field("agent", f.TEXT, "Slug of its agent.", True, column="agent_id"),
        Field(
            "origins",
            f.TEXTS,
            "Sites that it may be on, as `https://shop.example` or"
            " `https://*.shop.example`; an empty list means nobody.",
            check=check_origin,
        ),
        Field(
            "secret",
            f.TEXT,
            "Signs the identity of the site's own users; stored encrypted. See"
            " [identity](../howto/identity.md).",
        ),
        Field(
            "identity",
            f.TEXT,
            "`optional`, or `required`: visitors must be users of the site.",
            check=f.one_of(IDENTITY),
        ),
        Field(
            "proof_of_work",
            f.TEXT,
            "`off`, `on`, or `auto`: new visitors' browsers solve a puzzle first while"
            " the embed is close to its limits.",
            check=f.one_of(PROOF_OF_WORK),
        ),
        Field("title", f.TEXT, "Heading of the panel.", check=f.up_to(80)),
        Field("greeting", f.TEXT, "First words in the panel."),
        Field("placeholder", f.TEXT, "Shown in the text field.", check=f.up_to(80)),
        Field("accent", f.TEXT, "A CSS colour.", check=f.up_to(20)),
        Field("agent_name", f.TEXT, "Name above the replies.", check=f.up_to(80)),
        Field(
            "retention_days",
            f.INTEGER,
            "Days after their last use at which the texts of its conversations are"
            " removed; 0: as soon as they rest. Of the agent's days and these, the"
            " fewer count. Left out: the agent's.",
            check=f.within(0, MAX_RETENTION_DAYS),
        ),
        Field(
            "page_tool",
            f.FLAG,
            "Gives the model a tool that tells which page the visitor is on, and what"
            " they have selected there, if they agree.",
        ),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        plan.require("agent", entry.values["agent"], entry, "agent")
        stored = Embed.objects.filter(key=entry.values["key"]).first() or Embed()
        secret = entry.values.get("secret", stored.secret)
        identity = entry.values.get("identity", stored.identity)
        if identity == "required" and not secret:
            raise entry.fault(f"[[embed]] {NO_SECRET}", "identity")

    def columns(self, entry: Entry) -> dict[str, Any]:
        agent = Agent.objects.get(slug=entry.values["agent"])
        return {**super().columns(entry), "agent_id": agent.pk}
