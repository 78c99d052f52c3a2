"""Sums up what the mixed drills did and saw, on whatever process they ran."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

PROPERTY = "mixed drill"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the counts of all drills that ended, well or not."""
    counts: Counter[str] = Counter()
    for reports in list(terminalreporter.stats.values()):
        for report in reports:
            if getattr(report, "when", "") == "call":
                for name, value in report.user_properties:
                    if name == PROPERTY:
                        counts.update(json.loads(value))
    if counts:
        terminalreporter.section(PROPERTY)
        for what, count in sorted(counts.items()):
            terminalreporter.write_line(f"{count:6} {what}")
