from __future__ import annotations

from tests.fakes.edge import live, people, rest

__all__ = ["live", "people", "rest"]
