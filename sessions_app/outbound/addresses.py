"""Which addresses a request may go to: only those that are public."""

from __future__ import annotations

import re
import socket
import unicodedata
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from urllib.parse import SplitResult, urlsplit

Address = IPv4Address | IPv6Address

_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
# Set aside, though ``ipaddress`` calls them global: the documentation's newer range,
# and what relays of 6to4 were reached by.
_DOCUMENTATION = IPv6Network("3fff::/20")
_RELAYS = IPv4Network("192.88.99.0/24")
_NUMBERS = re.compile(r"[0-9a-fA-FxX.]+")


class AddressRefused(OSError):
    """The address may not be asked; the text is for the operator's log alone."""


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet.

    No attribute of ``ipaddress`` says so by itself: 100.64.0.1 is neither private nor
    global, and 64:ff9b::7f00:1, which is 127.0.0.1 behind a translator, is global.
    """
    if isinstance(address, IPv6Address):
        if address in _LOCAL_NAT64 or address in _DOCUMENTATION:
            return False
        if address.teredo is not None or address.is_site_local:
            return False
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
        if embedded := address.ipv4_mapped or address.sixtofour:
            return is_public(embedded)
    elif address in _RELAYS:
        return False
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def literal_address(host: str) -> Address | None:
    """The address that a host name spells out in any form a client reads."""
    host = host.removeprefix("[").removesuffix("]").partition("%")[0]
    # Clients fold a host as IDNA does: full-width digits, ideographic full stops.
    host = unicodedata.normalize("NFKC", host).replace("\u3002", ".")
    try:
        return ip_address(host)
    except ValueError:
        pass
    if not _NUMBERS.fullmatch(host):
        return None
    try:  # 127.1, 2130706433, 0x7f.1, 0177.0.0.1
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def check_url(url: str, *, allow_private: bool) -> SplitResult:
    """The parts of an http(s) URL that may be asked; AddressRefused if it may not."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressRefused("the URL cannot be read") from error
    if parts.scheme not in ("http", "https"):
        raise AddressRefused(f"the scheme {parts.scheme[:20]!r} is not http or https")
    if not host or port == 0:
        raise AddressRefused("the URL names no host")
    if "@" in parts.netloc or "\\" in url or re.search(r"[\x00-\x20\x7f]", url):
        raise AddressRefused("the URL holds a user or characters no URL may hold")
    address = literal_address(host)
    if not allow_private and address is not None and not is_public(address):
        raise AddressRefused(f"{host} is not a public address")
    return parts


def require_public(host: str, addresses: list[str]) -> None:
    """AddressRefused unless every address that a name has is public."""
    for text in addresses:
        address = literal_address(text)
        if address is None or not is_public(address):
            raise AddressRefused(f"{host} leads to {text}, which is not public")
