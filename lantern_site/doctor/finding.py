"""What one check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``advice`` says what to change; empty if nothing has to be."""

    check: str
    status: Status
    text: str
    advice: str = ""
