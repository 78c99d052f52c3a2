"""Models that are a command on this machine."""

from __future__ import annotations

from sessions_app.providers.exec.adapter import ExecAdapter
from sessions_app.providers.exec.command import command_fault

__all__ = ["ExecAdapter", "command_fault"]
