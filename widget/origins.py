"""Which origins an embed may be on."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

WILDCARD = "*."
SCHEMES = ("http", "https")


def is_origin_listed(origin: str, entries: Iterable[str]) -> bool:
    """Whether an Origin header fits an entry: exactly, or below ``https://*.host``.

    The dot counts: ``https://*.shop.example`` is not ``https://shop.example`` and not
    ``https://evilshop.example``. An empty list means nobody.
    """
    origin = origin.lower()
    scheme, separator, rest = origin.partition("://")
    if not separator:
        return False  # "null", and whatever else is no origin
    for entry in entries:
        wanted_scheme, _, wanted = entry.lower().partition("://")
        if scheme != wanted_scheme:
            continue
        if wanted.startswith(WILDCARD):
            if rest.endswith(wanted[1:]) and len(rest) > len(wanted) - 1:
                return True
        elif rest == wanted:
            return True
    return False


def origin_fault(entry: str) -> str:
    """What is wrong with an entry of the list, or empty."""
    try:
        parts = urlsplit(entry.replace(WILDCARD, "x.", 1))
        port = parts.port
    except ValueError:
        return f"{entry!r} is not an origin."
    host = parts.hostname or ""
    is_bare = not (parts.path or parts.query or parts.fragment or parts.username)
    if parts.scheme not in SCHEMES or not host or not is_bare or "*" in host:
        return f"{entry!r} is not of the form https://host or https://*.host."
    if port == {"http": 80, "https": 443}[parts.scheme]:
        return f"{entry!r} names the default port, which browsers leave out."
    return ""
