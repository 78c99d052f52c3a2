"""Known services, read from ``services.toml``, whose first lines say what is what."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sessions_app.domain.route import ProviderConfig

FILE = Path(__file__).with_name("services.toml")


@dataclass(frozen=True, slots=True)
class Service:
    """Where a service is and how it differs from OpenAI's dialect."""

    name: str = ""
    label: str = ""
    base_url: str = ""
    example: str = ""
    hosts: tuple[str, ...] = ()
    is_local: bool = False
    needs_key: bool = False
    refuses: tuple[str, ...] = ()
    names_tool: bool = True
    limit_name: str = "max_tokens"
    call_id_length: int = 0
    key_header: str = ""
    usage_in: str = ""
    source: str = ""
    as_of: date = date.min

    def is_at(self, host: str) -> bool:
        """Whether a host name is this service's own; a local one has none."""
        own = () if self.is_local else (urlsplit(self.base_url).hostname or "",)
        return bool(host) and any(
            fnmatchcase(host, glob) for glob in (*own, *self.hosts)
        )


UNKNOWN = Service()
"""What the dialect is taken to be elsewhere."""


@lru_cache(maxsize=1)
def services() -> Mapping[str, Service]:
    """All of the file, by name."""
    found: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Service(name=name, **{key: _frozen(fields[key]) for key in fields})
        for name, fields in found.items()
    }


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def service_of(config: ProviderConfig) -> Service:
    """The service that the account names, else the one whose host it is at."""
    return _find(config.service, config.base_url)


@lru_cache(maxsize=256)
def _find(name: str, base_url: str) -> Service:
    if name in services():
        return services()[name]
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:  # no address at all: asking it will say so
        return UNKNOWN
    return next((each for each in services().values() if each.is_at(host)), UNKNOWN)
