"""What a section of the file is: fields, and rows of one model to hold them."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model, QuerySet

from sessions_app.provision.errors import ProvisionError
from sessions_app.provision.fields import Field, closest, read_text
from sessions_app.provision.plan import Entry, Plan, read_at
from sessions_app.provision.reader import Table
from sessions_app.provision.report import Outcome

Row = TypeVar("Row", bound=Model)

IS_ENABLED = "is_enabled"


class Section(Generic[Row]):
    """Tables of one name; a subclass says what its fields are and where they go.

    ``identity`` are the keys that tell one row from another; all of them are required.
    """

    model: type[Row]
    about: ClassVar[str]
    identity: ClassVar[tuple[str, ...]]
    fields: ClassVar[tuple[Field, ...]]

    def read(self, table: Table) -> Entry:
        """Every key of a table, checked on its own; raises ProvisionError."""
        known = {field.name: field for field in self.fields}
        for key in table.values:
            if key not in known:
                raise self._unknown_key(table, key)
        values = {}
        for name, field in known.items():
            if name in table.values:
                values[name] = _read_value(field, table)
            elif field.required:
                raise ProvisionError(
                    table.line(), f"[[{table.section}]] needs the key {name!r}."
                )
        return Entry(table, values, tuple(values[key] for key in self.identity))

    def _unknown_key(self, table: Table, key: str) -> ProvisionError:
        names = [field.name for field in self.fields]
        sentence = f"{key!r} is not known; the closest is {closest(key, names)!r}."
        return ProvisionError(table.line(key), f"[[{table.section}]] {sentence}")

    def check_all(self, entries: list[Entry], plan: Plan) -> None:
        """Refuse what only shows between tables."""
        first: dict[tuple[str, ...], int] = {}
        for entry in entries:
            if entry.names in first:
                raise entry.fault(
                    f"The {entry.label} is already on line {first[entry.names]}.",
                    self.identity[-1],
                )
            first[entry.names] = entry.table.line(self.identity[-1])
            self.check(entry, plan)

    def check(self, entry: Entry, plan: Plan) -> None:
        """Refuse a table for what other tables or the database hold."""

    def prepare(self, entries: list[Entry], plan: Plan) -> None:
        """Clear the way before any row of this section is written."""

    def columns(self, entry: Entry) -> dict[str, Any]:
        """What the table says, by the attributes of the row."""
        return {self.column(key): value for key, value in entry.values.items()}

    def fill(self, row: Row, entry: Entry, plan: Plan) -> list[str]:
        """Write what is no plain attribute; tells which keys changed."""
        del row, entry, plan
        return []

    def column(self, key: str) -> str:
        """The row's attribute of a key."""
        return next(f.column or f.name for f in self.fields if f.name == key)

    def rows(self) -> QuerySet[Row]:
        """All stored rows."""
        return self.model._default_manager.all()

    def stored_names(self) -> set[str]:
        """What the stored rows are called."""
        key = self.column(self.identity[0])
        return set(self.rows().values_list(key, flat=True))

    def write(self, entry: Entry, plan: Plan) -> None:
        """Make the row say what the table says, and enable it."""
        wanted = self.columns(entry)
        if hasattr(self.model, IS_ENABLED):
            wanted[IS_ENABLED] = True
        own = {self.column(key): wanted[self.column(key)] for key in self.identity}
        found = self.rows().filter(**own).first()
        row = found or self.model(**own)
        columns = [
            name for name, value in wanted.items() if getattr(row, name) != value
        ]
        for name in columns:
            setattr(row, name, wanted[name])
        changed = [self._key(name) for name in columns] + self.fill(row, entry, plan)
        if found is None:
            outcome = Outcome.CREATED
        else:
            outcome = Outcome.CHANGED if changed else Outcome.UNCHANGED
        if outcome is not Outcome.UNCHANGED:
            row.save()
        plan.report.note(entry.label, outcome, changed)

    def _key(self, column: str) -> str:
        keys = {field.column or field.name: field.name for field in self.fields}
        return keys.get(column, column.removeprefix("is_"))

    def prune(self, section: str, plan: Plan) -> None:
        """Disable the rows that the file does not name."""
        key = self.column(self.identity[0])
        enabled = self.rows().filter(is_enabled=True)
        # Saved one by one: what listens to saves is to hear of it.
        for row in enabled.exclude(**{f"{key}__in": plan.named(section)}):
            setattr(row, IS_ENABLED, False)
            row.save(update_fields=[IS_ENABLED])
            name = getattr(row, key)
            plan.report.note(f"{section} {name}", Outcome.DISABLED)


def _read_value(field: Field, table: Table) -> Any:
    value = read_at(table, (field.name,), field.kind.read, table.values[field.name])
    if not field.kind.is_list:
        read_at(table, (field.name,), field.check, value)
        return value
    items = []
    for index, item in enumerate(value):
        path = (field.name, index)
        items.append(read_at(table, path, read_text, item))
        read_at(table, path, field.check, items[-1])
    return items
