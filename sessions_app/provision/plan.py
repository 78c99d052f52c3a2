"""The whole file, read: what each table says, and who is named anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sessions_app.provision.errors import ProvisionError
from sessions_app.provision.fields import Refused
from sessions_app.provision.reader import Table
from sessions_app.provision.report import Report


@dataclass(frozen=True, slots=True)
class Entry:
    """One table of the file: the keys that were given, and what the thing is called."""

    table: Table
    values: dict[str, Any]
    names: tuple[str, ...]

    @property
    def label(self) -> str:
        """How messages call the thing, such as ``price primary/gpt-*``."""
        return f"{self.table.section} {'/'.join(self.names)}"

    def fault(self, sentence: str, *path: str | int) -> ProvisionError:
        """An error at a key, at an item of its list, or at the table's header."""
        return ProvisionError(self.table.line(*path), sentence)


@dataclass(slots=True)
class Plan:
    """``stored`` holds the names of each section's rows as they were before."""

    prune: bool
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    stored: dict[str, set[str]] = field(default_factory=dict)
    report: Report = field(default_factory=Report)

    def named(self, section: str) -> set[str]:
        """The names that the file gives to things of a section."""
        return {entry.names[0] for entry in self.entries.get(section, [])}

    def require(self, section: str, name: str, entry: Entry, *path: str | int) -> None:
        """Refuse a name that neither the file nor the database knows."""
        if name in self.named(section):
            return
        if name not in self.stored.get(section, set()):
            raise entry.fault(
                f"There is no {section} {name!r}, neither in the file nor in the"
                " database.",
                *path,
            )
        if self.prune:
            raise entry.fault(
                f"The {section} {name!r} is not in the file, and --prune would"
                " disable it.",
                *path,
            )


def read_at(
    table: Table, path: tuple[str | int, ...], read: Callable[[Any], Any], value: Any
) -> Any:
    """The value as ``read`` has it; a refusal becomes an error with its line."""
    try:
        return read(value)
    except Refused as error:
        subject = f"[[{table.section}]] {path[0]}"
        if len(path) > 1:
            subject += f", item {int(path[1]) + 1},"
        raise ProvisionError(table.line(*path), f"{subject} {error}") from error
