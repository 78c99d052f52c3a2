"""The section of embeds in the configuration file."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sessions_app.models import Agent
from sessions_app.models.agent import MAX_RETENTION_DAYS
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field, Refused
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.section import Section
from widget import looks
from widget.accent import accent_warning
from widget.models import (
    IDENTITY,
    NO_SECRET,
    PROOF_OF_WORK,
    SHORT_SECRET,
    Embed,
    is_too_short,
)
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


def _by(fault_of: Callable[[str], str]) -> Callable[[str], None]:
    """A check that refuses with the sentence of ``widget.looks``."""

    def check(value: str) -> None:
        if fault := fault_of(value):
            raise Refused(fault)

    return check


def _line(length: int) -> Callable[[str], None]:
    def check(value: str) -> None:
        f.up_to(length)(value)
        _by(looks.line_fault)(value)

    return check


def _greeting(value: str) -> None:
    f.up_to(looks.MAX_GREETING)(value)
    _by(looks.markup_fault)(value)


def _path(value: str) -> None:
    f.up_to(looks.MAX_PATH)(value)
    _by(looks.path_fault)(value)


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
            "tokens_only",
            f.FLAG,
            "Whether a signed token is the only proof of who a visitor is: the hash,"
            " which never ends, is refused.",
        ),
        Field(
            "proof_of_work",
            f.TEXT,
            "`off`, `on`, or `auto`: new visitors' browsers solve a puzzle first while"
            " the embed is close to its limits.",
            check=f.one_of(PROOF_OF_WORK),
        ),
        Field(
            "attachments",
            f.FLAG,
            "Whether visitors may send images and text files, whatever the agent says.",
        ),
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
        Field("title", f.TEXT, "Heading of the panel.", check=_line(80)),
        Field("greeting", f.TEXT, "First words in the panel.", check=_greeting),
        Field("placeholder", f.TEXT, "Shown in the text field.", check=_line(80)),
        Field("agent_name", f.TEXT, "Name above the replies.", check=_line(80)),
        Field(
            "suggestions",
            f.TEXTS,
            f"Questions to begin with, at most {looks.MAX_SUGGESTIONS}.",
            check=_by(looks.suggestion_fault),
        ),
        Field(
            "accent",
            f.TEXT,
            "A colour such as `#0b6e4f`.",
            check=_by(looks.accent_fault),
        ),
        Field(
            "theme",
            f.TEXT,
            "`light`, `dark` or `auto`: as the visitor's system has it.",
            check=f.one_of(looks.THEMES),
        ),
        Field(
            "position",
            f.TEXT,
            "`left` or `right`; left out, where the page's lines end.",
            check=f.one_of(looks.POSITIONS),
        ),
        Field(
            "radius",
            f.INTEGER,
            "Corners of the panel, in pixels; the rest follows.",
            check=f.within(0, looks.MAX_RADIUS),
        ),
        Field(
            "launcher_label",
            f.TEXT,
            "Words beside the launcher's icon.",
            check=_line(looks.MAX_LABEL),
        ),
        Field(
            "collect_context",
            f.FLAG,
            "Asks the visitor whether the chat may see which page they are on.",
        ),
        Field(
            "open_after_s",
            f.NUMBER,
            "Comes forward after so many seconds on a page.",
            check=f.within(0, looks.MAX_WAIT_S),
        ),
        Field(
            "open_on_path",
            f.TEXT,
            "Comes forward on paths such as `/pricing*`.",
            check=_path,
        ),
        Field(
            "open_on_exit",
            f.FLAG,
            "Comes forward when the pointer leaves for the top of the window.",
        ),
        Field(
            "nudge",
            f.TEXT,
            "What it says then, above the launcher; without it the chat opens.",
            check=_line(looks.MAX_NUDGE),
        ),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        plan.require("agent", entry.values["agent"], entry, "agent")
        stored = Embed.objects.filter(key=entry.values["key"]).first() or Embed()
        secret = entry.values.get("secret", stored.secret)
        identity = entry.values.get("identity", stored.identity)
        if identity == "required" and not secret:
            raise entry.fault(f"[[embed]] {NO_SECRET}", "identity")
        is_strict = entry.values.get("tokens_only", stored.tokens_only)
        if is_strict and is_too_short(secret):
            raise entry.fault(f"[[embed]] {SHORT_SECRET}", "secret")
        if fault := looks.suggestions_fault(entry.values.get("suggestions", [])):
            raise entry.fault(f"[[embed]] suggestions {fault}", "suggestions")
        if warning := accent_warning(entry.values.get("accent", "")):
            plan.report.warnings.append(f"{entry.label}: {warning}")

    def columns(self, entry: Entry) -> dict[str, Any]:
        agent = Agent.objects.get(slug=entry.values["agent"])
        return {**super().columns(entry), "agent_id": agent.pk}
