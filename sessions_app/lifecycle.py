"""Whether this process is about to end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Lifecycle:
    """A process that drains takes no new turns, and says so at ``/ready``."""

    is_draining: bool = False


lifecycle = Lifecycle()
