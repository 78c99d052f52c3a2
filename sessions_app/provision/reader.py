"""From TOML text to the tables of its sections, each with its lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sessions_app.provision.errors import ProvisionError
from sessions_app.provision.lines import Path, lines_of

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Table:
    """One ``[[section]]`` of the file, its values as TOML has them."""

    section: str
    index: int
    values: Mapping[str, Any]
    lines: Mapping[Path, int]

    def line(self, *path: str | int) -> int:
        """The line of a key or list item; the nearest known place around it."""
        full: Path = (self.section, self.index, *path)
        while full not in self.lines:
            full = full[:-1]
        return self.lines[full]


def read(text: str) -> list[Table]:
    """All tables in the order of the file; raises ProvisionError."""
    try:
        values = _parse(text)
        lines = lines_of(text)
    except RecursionError as error:
        raise ProvisionError(1, "The lists are nested too deeply.") from error
    tables = [
        Table(section, index, item, lines)
        for section, items in values.items()
        for index, item in enumerate(_tables_of(section, items, lines))
    ]
    return sorted(tables, key=lambda table: table.line())


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        last = text.rstrip().count("\n") + 1
        line = int(place[1]) if place and place[1] else last
        reason = _PLACE.sub("", str(error))
        raise ProvisionError(line, f"This is not TOML: {reason}.") from error
    except ValueError as error:  # an integer of thousands of digits
        raise ProvisionError(1, f"This cannot be read: {error}.") from error


def _tables_of(section: str, items: Any, lines: Mapping[Path, int]) -> list[Any]:
    line = lines[(section,)]
    if isinstance(items, dict):
        raise ProvisionError(
            line, f"Write [[{section}]] in double brackets: there may be many."
        )
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ProvisionError(
            line, f"{section!r} stands outside of any section such as [[provider]]."
        )
    return items
