"""The built-in demo: no model and no network, so that a first start can answer."""

from __future__ import annotations

from sessions_app.providers.demo.adapter import DemoAdapter

__all__ = ["DemoAdapter"]
