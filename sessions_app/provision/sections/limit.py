"""Limits in the file."""

from __future__ import annotations

from sessions_app.models import RequestLimit
from sessions_app.models.budget import NAMED_KINDS
from sessions_app.models.limit import MOST, limit_fault
from sessions_app.provision import fields as f
from sessions_app.provision.fields import Field
from sessions_app.provision.plan import Entry, Plan
from sessions_app.provision.section import Section

AMOUNTS = ("requests_per_minute", "concurrent_turns")


class LimitSection(Section[RequestLimit]):
    """How fast, and how much at once."""

    model = RequestLimit
    about = (
        "How many requests in any 60 seconds, and how many turns at once; a limit of 0"
        " refuses everything. See [limits](../howto/limits.md)."
    )
    identity = ("on",)
    fields = (
        Field(
            "on",
            f.TEXT,
            "`key:NAME`, `agent:SLUG`, `embed:KEY`, or `visitor` or `address`: each"
            " one of them.",
            True,
            f.up_to(150),
        ),
        Field(
            "requests_per_minute",
            f.INTEGER,
            "Messages, new sessions and starts of the widget, each counted for itself.",
            check=f.within(0, MOST),
        ),
        Field(
            "concurrent_turns",
            f.INTEGER,
            "Sessions that may have an unfinished turn at the same time; not on"
            " `address`.",
            check=f.within(0, MOST),
        ),
    )

    def check(self, entry: Entry, plan: Plan) -> None:
        on = entry.values["on"]
        if fault := limit_fault(on, entry.values.get("concurrent_turns")):
            raise entry.fault(fault, "on")
        kind, _, name = on.partition(":")
        if kind in NAMED_KINDS:
            plan.require(kind, name, entry, "on")
        if not set(AMOUNTS) & set(entry.values):
            raise entry.fault(
                "[[limit]] needs the key 'requests_per_minute' or 'concurrent_turns'."
            )

    def stored_names(self) -> set[str]:
        return set()  # nothing refers to a limit
