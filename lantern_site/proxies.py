"""The visitor's address behind trusted proxies."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from django.core.exceptions import ImproperlyConfigured

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class TrustedProxies:
    """Takes address and scheme from forwarding headers of configured peers only.

    ``X-Forwarded-For`` is read from its right end, past the trusted hops: what stands
    further left was written by the client itself.
    """

    def __init__(self, app: App, proxies: Iterable[str]) -> None:
        self._app = app
        try:
            self._trusted = [ipaddress.ip_network(proxy) for proxy in proxies]
        except ValueError as error:
            raise ImproperlyConfigured(
                f"LANTERN_TRUSTED_PROXIES: {error}; write addresses or networks."
            ) from error

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        client = scope.get("client")
        if self._trusted and client and self._is_trusted(client[0]):
            scope = {**scope, **self._forwarded(scope["headers"], client)}
        await self._app(scope, receive, send)

    def _forwarded(self, headers: Headers, client: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        forwarded = b",".join(
            value for name, value in headers if name == b"x-forwarded-for"
        )
        hops = forwarded.decode("latin-1").split(",")
        for hop in reversed([hop.strip() for hop in hops if hop.strip()]):
            address = address_of(hop)
            if address is None:
                break  # what the proxies write is an address
            found["client"] = [str(address), client[1]]
            if not self._is_trusted(str(address)):
                break
        scheme = dict(headers).get(b"x-forwarded-proto", b"").decode("latin-1").strip()
        if scheme in ("http", "https"):
            found["scheme"] = scheme
        return found

    def _is_trusted(self, text: str) -> bool:
        address = address_of(text)
        return address is not None and any(address in net for net in self._trusted)


def address_of(hop: str) -> Address | None:
    """The address of ``1.2.3.4``, ``1.2.3.4:80``, ``::1`` or ``[::1]:80``."""
    host = hop
    if hop.startswith("["):
        host = hop[1:].partition("]")[0]
    elif hop.count(":") == 1:
        host = hop.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(host)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped  # a socket that listens on both families says so
    return parsed
