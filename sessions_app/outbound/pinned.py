"""A transport for the MCP library's own HTTP client, checked like all others."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import httpx2

from sessions_app.outbound.addresses import (
    check_url,
    literal_address,
    require_public,
)

Resolve = Callable[[str, int], Awaitable[list[str]]]


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class PinnedTransport(httpx2.AsyncBaseTransport):
    """Asks the address that was checked, under the name that was asked for."""

    def __init__(
        self,
        *,
        allow_private: bool,
        inner: httpx2.AsyncBaseTransport | None = None,
        resolve: Resolve = resolve,
    ) -> None:
        self._allow_private = allow_private
        self._inner = inner or httpx2.AsyncHTTPTransport()
        self._resolve = resolve

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        check_url(str(request.url), allow_private=self._allow_private)
        host = request.url.host
        if not self._allow_private and literal_address(host) is None:
            port = request.url.port or (443 if request.url.scheme == "https" else 80)
            addresses = await self._resolve(host, port)
            require_public(host, addresses)
            request.url = request.url.copy_with(host=addresses[0])
            request.extensions = {**request.extensions, "sni_hostname": host}
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()
