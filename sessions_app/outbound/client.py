"""The HTTP client for tools and webhooks: it connects to what was checked.

Redirects are followed by hand, each hop checked like the first address; what a name
leads to is judged in the resolver, whose answer is the very address that is dialled.
The last word is the socket's: no reading of a URL can lead it inside.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urljoin
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType

from sessions_app.outbound.addresses import (
    AddressRefused,
    check_url,
    require_public,
)

MAX_REDIRECTS = 5
CONNECT_TIMEOUT_S = 5.0
READ_BYTES = 65_536
_REDIRECTS = (301, 302, 303, 307, 308)
_BASE_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "lantern"}

MakeSession = Callable[[bool], aiohttp.ClientSession]


class OutboundError(Exception):
    """No answer; the text is for the operator's log, never for a model."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; ``headers`` go to the first origin alone, as they hold secrets."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """``body`` holds at most the bytes that were asked for; ``is_cut`` if more came."""

    status: int
    content_type: str
    body: bytes
    is_cut: bool

    def text(self) -> str:
        """The body as text, by its own charset or UTF-8."""
        _, _, charset = self.content_type.partition("charset=")
        try:
            return self.body.decode(charset.strip(' "') or "utf-8", "replace")
        except (LookupError, UnicodeError):  # no such charset, or one that is strict
            return self.body.decode("utf-8", "replace")


class PublicResolver(AbstractResolver):
    """Gives only public addresses; refuses a name that has any other."""

    def __init__(self, inner: AbstractResolver) -> None:
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        require_public(host, [each["host"] for each in found])
        return found

    async def close(self) -> None:
        await self._inner.close()


def public_socket(target: AddrInfoType) -> socket.socket:
    """A socket for an address that is dialled next; AddressRefused if it is inside.

    aiohttp asks no resolver for a host that it takes for an address, and what it takes
    for one is its own reading of the URL.
    """
    family, kind, protocol, _, place = target
    require_public("the URL", [str(place[0])])
    return socket.socket(family, kind, protocol)


def new_connector(
    allow_private: bool, resolver: AbstractResolver | None = None, **options: Any
) -> aiohttp.TCPConnector:
    """A connector that reaches public addresses only, or all."""
    inner = resolver or aiohttp.ThreadedResolver()
    if allow_private:
        return aiohttp.TCPConnector(limit=0, resolver=inner, **options)
    return aiohttp.TCPConnector(
        limit=0,
        resolver=PublicResolver(inner),
        socket_factory=public_socket,
        **options,
    )


def new_session(
    allow_private: bool, resolver: AbstractResolver | None = None
) -> aiohttp.ClientSession:
    """A session without cookies, proxies from the environment, or decompression."""
    return aiohttp.ClientSession(
        connector=new_connector(allow_private, resolver),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
    )


_sessions: WeakKeyDictionary[
    asyncio.AbstractEventLoop, dict[bool, aiohttp.ClientSession]
] = WeakKeyDictionary()


def _shared_session(allow_private: bool) -> aiohttp.ClientSession:
    mine = _sessions.setdefault(asyncio.get_running_loop(), {})
    if allow_private not in mine:
        mine[allow_private] = new_session(allow_private)
    return mine[allow_private]


async def close_sessions() -> None:
    """Close the running loop's sessions and their pooled connections."""
    for session in _sessions.pop(asyncio.get_running_loop(), {}).values():
        await session.close()


async def fetch(
    request: Request,
    *,
    timeout_s: float,
    max_bytes: int,
    session_for: MakeSession = _shared_session,
) -> Answer:
    """The answer after at most MAX_REDIRECTS hops; OutboundError if there is none.

    ``timeout_s`` covers everything, a body that drips included.
    """
    session = session_for(request.allow_private)
    try:
        async with asyncio.timeout(timeout_s):
            return await _follow(session, request, max_bytes)
    except TimeoutError as error:
        raise OutboundError(f"no answer within {timeout_s:g} s") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise OutboundError(f"{type(error).__name__}: {error}") from error


async def _follow(
    session: aiohttp.ClientSession, request: Request, max_bytes: int
) -> Answer:
    method, url, body = request.method, request.url, request.body
    headers = {**_BASE_HEADERS, **request.headers}
    parts = check_url(url, allow_private=request.allow_private)
    for _ in range(MAX_REDIRECTS + 1):
        async with session.request(
            method,
            url,
            headers=headers,
            data=body,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(None, sock_connect=CONNECT_TIMEOUT_S),
        ) as response:
            location = response.headers.get("Location")
            if response.status not in _REDIRECTS or not location:
                return await _read(response, max_bytes)
        url = urljoin(url, location)
        if response.status == 303 or (method == "POST" and response.status < 303):
            method, body = "GET", None
        left, parts = parts, check_url(url, allow_private=request.allow_private)
        if _origin(parts) != _origin(left):
            headers = dict(_BASE_HEADERS)
    raise AddressRefused("too many redirects")


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    default = 443 if parts.scheme == "https" else 80
    return parts.scheme, parts.hostname, parts.port or default


async def _read(response: aiohttp.ClientResponse, max_bytes: int) -> Answer:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise aiohttp.ClientPayloadError("the answer is compressed, unasked")
    body = bytearray()
    while len(body) <= max_bytes:
        raw = await response.content.read(READ_BYTES)
        if not raw:
            break
        body += raw
    is_cut = len(body) > max_bytes
    if is_cut:
        response.close()
    return Answer(
        response.status,
        response.headers.get("Content-Type", ""),
        bytes(body[:max_bytes]),
        is_cut,
    )
