"""Which origins an embed may be on."""

from __future__ import annotations

import re
from ipaddress import IPv6Address, ip_address

import idna

from sessions_app.domain.lists import texts_of

WILDCARD = "*."
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_PORT = 65_535
MAX_HOST_LENGTH = 253

_FORM = re.compile(
    r"(?P<scheme>https?)://(?P<wildcard>(?:\*\.)?)(?P<host>\[[0-9a-f:.]+\]|[^\[\]/?#@:*\s]+)"
    r"(?::(?P<port>[0-9]{1,5}))?",
    re.IGNORECASE,
)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")


def is_origin_listed(origin: str, entries: object) -> bool:
    """Whether an Origin header fits an entry: exactly, or below ``https://*.host``.

    The dot counts: ``https://*.shop.example`` is not ``https://shop.example`` and not
    ``https://evilshop.example``. An empty list means nobody, and so
    does what is no list: a row may hold anything.
    """
    origin = origin.lower()
    scheme, separator, rest = origin.partition("://")
    if not separator:
        return False  # "null", and whatever else is no origin
    for entry in texts_of(entries):
        wanted_scheme, _, wanted = entry.lower().partition("://")
        if scheme != wanted_scheme:
            continue
        if wanted.startswith(WILDCARD) and wanted != WILDCARD:
            if rest.endswith(wanted[1:]) and len(rest) > len(wanted) - 1:
                return True
        elif rest == wanted:
            return True
    return False


def origin_fault(entry: str) -> str:
    """What is wrong with an entry of the list, or empty.

    A browser sends one spelling of each origin: an entry in another would never match,
    and the site's owner would not be told why.
    """
    form = _FORM.fullmatch(entry)
    if form is None:
        return _not_of_the_form(entry)
    scheme, wildcard, host, port = (
        form["scheme"],
        form["wildcard"],
        form["host"],
        form["port"],
    )
    spelt = _as_browsers_spell(host)
    if spelt is None or (wildcard and _is_address(spelt)):
        return f"{entry!r} names no host."
    if port is not None and (port[0] == "0" or int(port) > MAX_PORT):
        return f"{entry!r} names no port."
    if port is not None and int(port) == DEFAULT_PORTS[scheme.lower()]:
        return f"{entry!r} names the default port, which browsers leave out."
    if spelt != host.lower():
        right = f"{scheme.lower()}://{wildcard}{spelt}{f':{port}' if port else ''}"
        return f"{entry!r} is spelt {right!r} by browsers."
    return ""


def _not_of_the_form(entry: str) -> str:
    """The commonest slips by name: no scheme, and more than an origin."""
    origin, more = entry, ""
    if (rest := re.search(r"(?<![:/])[/?#]", entry)) is not None:
        origin, more = entry[: rest.start()], entry[rest.start() :]
    if more and _FORM.fullmatch(origin):
        return f"{entry!r} is more than an origin: write {origin!r}, without {more!r}."
    if _FORM.fullmatch(f"https://{entry}"):
        return f"{entry!r} lacks its scheme: write {f'https://{entry}'!r}."
    return f"{entry!r} is not of the form https://host or https://*.host."


def _as_browsers_spell(host: str) -> str | None:
    """The host in the one form that an Origin header has; None if it is none."""
    if host.startswith("["):
        try:
            return f"[{IPv6Address(host[1:-1]).compressed}]"
        except ValueError:
            return None
    try:
        name = idna.encode(host, uts46=True).decode() if not host.isascii() else host
    except idna.IDNAError:
        return None
    name = name.lower()
    if not _NAME.fullmatch(name) or len(name) > MAX_HOST_LENGTH:
        return None
    if name.rpartition(".")[2].isdigit() and not _is_address(name):
        return None  # browsers read it as an address, in a form of their own
    return name


def _is_address(host: str) -> bool:
    try:
        return bool(ip_address(host.strip("[]")))
    except ValueError:
        return False
