"""Checks of a deployment, from outside through its proxies and from inside."""

from __future__ import annotations

from lantern_site.doctor.finding import Finding, Status

__all__ = ["Finding", "Status"]
