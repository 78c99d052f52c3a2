"""Models that answer ``{prompt, stream}`` with raw text."""

from __future__ import annotations

from sessions_app.providers.truss.adapter import TrussAdapter

__all__ = ["TrussAdapter"]
