"""How many connections a process holds, in all and from one address."""

from __future__ import annotations

import ipaddress
import resource
from collections import Counter
from collections.abc import Sequence

from lantern_site.proxies import Network, address_of

SPARE_FILES = 100
"""Descriptors that are no clients' connections: database, log, providers."""


class Gate:
    """Counts who is in, and says who may come in.

    Everybody behind a proxy has its address, so trusted proxies are exempt from the
    limit of an address; so is this machine itself, where a proxy often runs.
    """

    def __init__(
        self, limit: int, limit_per_address: int, trusted: Sequence[Network] = ()
    ) -> None:
        self._limit = limit
        self._limit_per_address = limit_per_address
        self._trusted = trusted
        self._by_address: Counter[str] = Counter()
        self.count = 0
        self.refused = 0

    def enter(self, host: str) -> bool:
        """Count a connection in, or refuse it."""
        is_full = self.count >= self._limit or (
            self._by_address[host] >= self._limit_per_address
            and not self._is_exempt(host)
        )
        if is_full:
            self.refused += 1
            if not self._by_address[host]:
                del self._by_address[host]
            return False
        self.count += 1
        self._by_address[host] += 1
        return True

    def leave(self, host: str) -> None:
        """A connection that came in is gone."""
        self.count -= 1
        self._by_address[host] -= 1
        if not self._by_address[host]:
            del self._by_address[host]

    def _is_exempt(self, host: str) -> bool:
        address = address_of(host)
        if address is None:
            return True  # a socket file: who may use it is a matter of its permissions
        return address.is_loopback or any(address in net for net in self._trusted)


def room_for(wanted: int) -> int:
    """Raise the limit of open files as far as it goes; the connections that fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE_FILES
    if soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, min(wanted, soft - SPARE_FILES))


def trusted_networks(proxies: Sequence[str]) -> list[Network]:
    """Addresses and networks as written in the settings; ValueError if one is none."""
    return [ipaddress.ip_network(proxy) for proxy in proxies]
