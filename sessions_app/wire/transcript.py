"""A conversation as a text to keep: plain, or Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Form = Literal["plain", "markdown"]
CUT = "What was said before has no room here."


@dataclass(frozen=True, slots=True)
class Line:
    """One message; ``name`` is who wrote it, ``at`` in UTC."""

    name: str
    at: datetime
    text: str


def transcript(
    title: str, lines: Sequence[Line], *, is_whole: bool = True, form: Form = "plain"
) -> str:
    """The text, its lines ended by a newline."""
    is_markdown = form == "markdown"
    head = f"# {title}" if is_markdown else title
    parts = [head] if is_whole else [head, CUT]
    for line in lines:
        at = f"{line.at:%Y-%m-%d %H:%M} UTC"
        who = f"**{line.name}** · {at}" if is_markdown else f"{line.name}, {at}:"
        parts.append(f"{who}\n\n{line.text}" if is_markdown else f"{who}\n{line.text}")
    return "\n\n".join(parts) + "\n"
