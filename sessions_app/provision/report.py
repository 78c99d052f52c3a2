"""What a run did to the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """What became of one thing."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    DISABLED = "disabled"
    DELETED = "deleted"


@dataclass(slots=True)
class Report:
    """Outcomes by thing, such as ``agent helper``; ``keys`` holds made ones by name.

    ``warnings`` are sentences about what was taken, and had better be another.
    """

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _details: dict[str, list[str]] = field(default_factory=dict)

    def note(self, thing: str, outcome: Outcome, changed: Iterable[str] = ()) -> None:
        """Book an outcome; a thing that was changed before stays so."""
        if outcome is not Outcome.UNCHANGED or thing not in self.outcomes:
            self.outcomes[thing] = outcome
        names = self._details.setdefault(thing, [])
        names.extend(name for name in changed if name not in names)

    def things(self, outcome: Outcome) -> list[str]:
        """Everything with this outcome, in the order of the run."""
        return [thing for thing, found in self.outcomes.items() if found is outcome]

    @property
    def has_changes(self) -> bool:
        """Whether the database was another before."""
        return any(found is not Outcome.UNCHANGED for found in self.outcomes.values())

    def lines(self) -> list[str]:
        """The summary for a terminal, without the keys."""
        total = len(self.outcomes)
        if not self.has_changes:
            return [f"Nothing to change: {total} unchanged."]
        lines = []
        for thing, outcome in self.outcomes.items():
            if outcome is Outcome.UNCHANGED:
                continue
            names = ", ".join(self._details[thing])
            is_told = outcome is Outcome.CHANGED and names
            lines.append(f"{outcome:<9} {thing}" + (f" ({names})" if is_told else ""))
        counts = Counter(self.outcomes.values())
        parts = [f"{counts[outcome]} {outcome}" for outcome in Outcome]
        lines.append(", ".join(part for part in parts if not part.startswith("0 ")))
        return lines
