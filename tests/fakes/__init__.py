"""Stand-ins with real sockets and scripted answers."""

from __future__ import annotations
