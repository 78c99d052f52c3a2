"""Agents in the file."""

from __future__ import annotations

from sessions_app.domain.route import route_entry_fault, split_route_entry
from sessions_app.models import Agent
from sessions_app.models.agent import MAX_RETENTION_DAYS, MAX_TEMPERATURE, MAX_TOKENS
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.report import Outcome
from sessions_app.provision.section import Section
from sessions_app.tools.builtin import BUILTIN


def check_route_entry(entry: str) -> None:
    """``provider/model``."""
    if fault := route_entry_fault(entry):
        raise Refused(fault)


class AgentSection(Section[Agent]):
    """What answers sessions."""

    model = Agent
    about = "What answers a session: a prompt, a route of models, and tools."
    identity = ("slug",)
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
            "Tools that it may use: names of `[[tool]]`, or built-in ones"
            f" ({', '.join(sorted(BUILTIN))}).",
        ),
        Field(
            "stream_last_round",
            f.FLAG,
            "Whether text is shown as it comes in turns with tools, too.",
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
            check=f.within(1, MAX_TOKENS),
        ),
        Field(
            "context_tokens",
            f.INTEGER,
            "The most that a model is told, reply included; older turns are left out"
            " beyond that. Left out: as much as the model takes.",
            check=f.within(256, MAX_TOKENS),
        ),
        Field(
            "memory",
            f.FLAG,
            "Whether the model summarises what its window has no room for any more.",
        ),
        Field(
            "temperature",
            f.NUMBER,
            f"From 0 to {MAX_TEMPERATURE}.",
            check=f.within(0, MAX_TEMPERATURE),
        ),
        Field(
            "attachments",
            f.FLAG,
            "Whether images and text files are taken with messages.",
        ),
        Field(
            "retention_days",
            f.INTEGER,
            "Days after their last use at which the texts of its conversations are"
            " removed; 0: as soon as they rest. Left out: they are kept.",
            check=f.within(0, MAX_RETENTION_DAYS),
        ),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        if not entry.values["route"]:
            raise entry.fault("[[agent]] route must not be empty.", "route")
        for index, step in enumerate(entry.values["route"]):
            provider, _ = split_route_entry(step)
            plan.require("provider", provider, entry, "route", index)
        for index, name in enumerate(entry.values.get("tools", [])):
            if name not in BUILTIN:
                plan.require("tool", name, entry, "tools", index)

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
