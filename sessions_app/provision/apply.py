"""One file, one transaction."""

from __future__ import annotations

from django.db import transaction

from sessions_app.provision.errors import ProvisionError
from sessions_app.provision.fields import closest
from sessions_app.provision.plan import Plan
from sessions_app.provision.reader import Table, read
from sessions_app.provision.registry import sections
from sessions_app.provision.report import Report


def apply(text: str, *, source: str = "<text>", prune: bool = False) -> Report:
    """Make the database say what the text says; raises ProvisionError.

    All of it is done, or nothing. Running it again changes nothing. What the text
    does not name stays; with ``prune`` it is disabled.
    """
    try:
        tables = read(text)
        plan = Plan(prune)
        with transaction.atomic():
            _read_entries(tables, plan)
            _check(plan)
            _write(plan)
    except ProvisionError as error:
        error.source = source
        raise
    return plan.report


def _read_entries(tables: list[Table], plan: Plan) -> None:
    for table in tables:
        section = sections().get(table.section)
        if section is None:
            raise ProvisionError(table.line(), _unknown_section(table.section))
        plan.entries.setdefault(table.section, []).append(section.read(table))


def _unknown_section(name: str) -> str:
    return (
        f"There is no section {name!r}; the closest is {closest(name, sections())!r}."
    )


def _check(plan: Plan) -> None:
    for name, section in sections().items():
        plan.stored[name] = section.stored_names()
    for name, section in sections().items():
        section.check_all(plan.entries.get(name, []), plan)


def _write(plan: Plan) -> None:
    for name, section in sections().items():
        entries = plan.entries.get(name, [])
        section.prepare(entries, plan)
        for entry in entries:
            section.write(entry, plan)
    if plan.prune:
        for name, section in sections().items():
            section.prune(name, plan)
