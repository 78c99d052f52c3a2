"""The sections of the file, in the order in which they are written."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sessions_app.provision.section import Section

_sections: dict[str, Section[Any]] = {}


def register_section(name: str, section: Section[Any]) -> None:
    """Add a section; it may refer to those that were added before it."""
    _sections[name] = section


def sections() -> Mapping[str, Section[Any]]:
    """All sections by name."""
    return MappingProxyType(_sections)
