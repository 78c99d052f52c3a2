"""Token counts of a message: cached input stands beside the input here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions_app.domain.parts import UsagePart

_INPUT = "input_tokens"
_READ = "cache_read_input_tokens"
_WRITTEN = "cache_creation_input_tokens"
_OUTPUT = "output_tokens"


class UsageTally:
    """Running totals of one message, from all the places that report them."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, usage: Mapping[str, Any]) -> UsagePart | None:
        """The sums so far; None if these counts say nothing new.

        Counts are totals and not steps, so the last one counts; but an input of zero
        after a real one is a field that somebody filled in.
        """
        before = dict(self._counts)
        for name in (_INPUT, _READ, _WRITTEN, _OUTPUT):
            value = usage.get(name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                continue
            if value or name == _OUTPUT or name not in self._counts:
                self._counts[name] = value
        return self._part() if self._counts != before else None

    def _part(self) -> UsagePart:
        counts = self._counts
        inputs = [counts[n] for n in (_INPUT, _READ, _WRITTEN) if n in counts]
        return UsagePart(
            tokens_in=sum(inputs) if inputs else None,
            tokens_out=counts.get(_OUTPUT),
            cached_tokens_in=counts.get(_READ),
            cache_write_tokens_in=counts.get(_WRITTEN),
        )
