"""The visitor's address behind trusted proxies."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from django.core.exceptions import ImproperlyConfigured

App = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
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
            scope = {**scope, **self._forwarded(dict(scope["headers"]), client)}
        await self._app(scope, receive, send)

    def _forwarded(self, headers: dict[bytes, bytes], client: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        hops = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")
        for hop in reversed([hop.strip() for hop in hops if hop.strip()]):
            found["client"] = [hop, client[1]]
            if not self._is_trusted(hop):
                break
        scheme = headers.get(b"x-forwarded-proto", b"").decode("latin-1").strip()
        if scheme in ("http", "https"):
            found["scheme"] = scheme
        return found

    def _is_trusted(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._trusted)
