"""C71: a request connects to the address that was checked, and to no other."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import httpx2
import pytest
from aiohttp.abc import AbstractResolver
from aiohttp.test_utils import TestServer
from aiohttp.web import Application, HTTPFound, Request, Response, StreamResponse

from sessions_app.outbound import client
from sessions_app.outbound.client import OutboundError, PublicResolver, fetch
from sessions_app.outbound.pinned import PinnedTransport

PUBLIC, PRIVATE = "93.184.215.14", "127.0.0.1"


class FixedResolver(AbstractResolver):
    """Gives one answer after the other, the last one again and again."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[Any]:
        answers = self.answers
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            {
                "hostname": host,
                "host": each,
                "port": port,
                "family": socket.AF_INET,
                "proto": 0,
                "flags": 0,
            }
            for each in found
        ]

    async def close(self) -> None:
        pass


class Dialled:
    """A connector that notes whom it would call, and calls nobody."""

    def __init__(self, resolver: AbstractResolver) -> None:
        self.addresses: list[str] = []
        self._resolver = resolver

    def session_for(self, allow_private: bool) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=PublicResolver(self._resolver),
            socket_factory=self._socket,
            use_dns_cache=False,
        )
        self.session = aiohttp.ClientSession(connector=connector)
        return self.session

    def _socket(self, address: Any) -> socket.socket:
        self.addresses.append(address[4][0])
        raise OSError("nobody is called in tests")


async def ask(dialled: Dialled, url: str = "http://shop.example/") -> None:
    try:
        with pytest.raises(OutboundError):
            await fetch(
                client.Request("GET", url, {}),
                timeout_s=5,
                max_bytes=100,
                session_for=dialled.session_for,
            )
    finally:
        await dialled.session.close()


async def test_public_name_is_called_at_its_address() -> None:
    dialled = Dialled(FixedResolver([PUBLIC]))
    await ask(dialled)
    assert dialled.addresses == [PUBLIC]


@pytest.mark.parametrize("answer", [[PRIVATE], [PUBLIC, PRIVATE], ["::1"]])
async def test_name_that_leads_inside_is_not_called(answer: list[str]) -> None:
    dialled = Dialled(FixedResolver(answer))
    await ask(dialled)
    assert dialled.addresses == []


# The answer that was checked is the one that is dialled: there is no second look-up.
async def test_name_that_changes_is_called_at_what_was_checked() -> None:
    dialled = Dialled(FixedResolver([PUBLIC], [PRIVATE]))
    await ask(dialled)
    assert dialled.addresses == [PUBLIC]


@pytest.mark.parametrize("url", ["http://127.1/", "http://[::1]/", "file:///etc/hosts"])
async def test_literal_address_inside_is_not_called(url: str) -> None:
    dialled = Dialled(FixedResolver([PUBLIC]))
    await ask(dialled, url)
    assert dialled.addresses == []


@pytest.mark.parametrize(
    "host", ["\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021"]
)
async def test_disguised_address_inside_is_not_called(host: str) -> None:
    dialled = Dialled(FixedResolver([PUBLIC]))
    await ask(dialled, f"http://{host}/")
    assert dialled.addresses == []


Serve = Callable[[Callable[[Request], Awaitable[StreamResponse]]], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """A server on this machine that answers every request by one function."""
    servers: list[TestServer] = []

    async def start(handler: Callable[[Request], Awaitable[StreamResponse]]) -> str:
        app = Application()
        app.router.add_route("*", "/{path:.*}", handler)
        server = TestServer(app)
        await server.start_server()
        servers.append(server)
        return str(server.make_url("/"))

    yield start
    for server in servers:
        await server.close()
    await client.close_sessions()


async def get(url: str, **options: Any) -> client.Answer:
    headers = options.pop("headers", {})
    options = {"timeout_s": 5.0, "max_bytes": 1000, **options}
    return await fetch(
        client.Request("GET", url, headers, allow_private=True), **options
    )


# Whatever reading of a URL lets it pass: the socket has the last word.
async def test_socket_is_not_made_for_an_address_inside(serve: Serve) -> None:
    asked = []

    async def note(request: Request) -> Response:
        asked.append(1)
        return Response()

    url = await serve(note)
    async with client.new_session(allow_private=False) as session:
        with pytest.raises(aiohttp.ClientConnectorError):
            await session.get(url)
    assert asked == []


@pytest.mark.parametrize("charset", ["idna", "undefined", "punycode", "no-such", ""])
def test_charset_that_cannot_be_used_is_read_as_utf8(charset: str) -> None:
    answer = client.Answer(
        200, f"text/plain; charset={charset}", b"\xc3\xa9\xff", False
    )
    assert answer.text() == "\xe9\ufffd"


async def test_redirect_to_another_scheme_is_refused(serve: Serve) -> None:
    async def away(request: Request) -> Response:
        raise HTTPFound("file:///etc/passwd")

    with pytest.raises(OutboundError):
        await get(await serve(away))


async def test_redirects_have_an_end(serve: Serve) -> None:
    asked = []

    async def again(request: Request) -> Response:
        asked.append(1)
        raise HTTPFound("/again")

    with pytest.raises(OutboundError):
        await get(await serve(again))
    assert len(asked) == client.MAX_REDIRECTS + 1


async def test_secret_headers_stay_with_their_origin(serve: Serve) -> None:
    seen = []

    async def last(request: Request) -> Response:
        seen.append(request.headers.get("Authorization"))
        return Response(text="here")

    other = await serve(last)

    async def first(request: Request) -> Response:
        if request.path == "/":
            raise HTTPFound("/same")
        seen.append(request.headers.get("Authorization"))
        raise HTTPFound(other)

    answer = await get(await serve(first), headers={"Authorization": "secret"})
    assert (answer.text(), seen) == ("here", ["secret", None])


async def test_endless_body_is_cut(serve: Serve) -> None:
    async def flood(request: Request) -> StreamResponse:
        response = StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65_536)

    answer = await get(await serve(flood))
    assert (len(answer.body), answer.is_cut) == (1000, True)


async def test_dripping_body_meets_the_time_limit(serve: Serve) -> None:
    async def drip(request: Request) -> StreamResponse:
        response = StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x")
            await asyncio.sleep(0.02)

    with pytest.raises(OutboundError):
        await get(await serve(drip), timeout_s=0.3)


async def test_compressed_body_is_refused(serve: Serve) -> None:
    async def bomb(request: Request) -> Response:
        return Response(body=b"x", headers={"Content-Encoding": "gzip"})

    with pytest.raises(OutboundError):
        await get(await serve(bomb))


class Noted(httpx2.AsyncBaseTransport):
    """Answers all, and notes which address was asked under which name."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append((request.url.host, request.headers["host"]))
        return httpx2.Response(200)


async def pinned_get(noted: Noted, *addresses: str) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    transport = PinnedTransport(allow_private=False, inner=noted, resolve=resolve)
    async with httpx2.AsyncClient(transport=transport) as http:
        await http.get("http://tools.example/mcp")


async def test_pinned_transport_asks_the_checked_address() -> None:
    noted = Noted()
    await pinned_get(noted, PUBLIC)
    assert noted.asked == [(PUBLIC, "tools.example")]


async def test_pinned_transport_refuses_what_leads_inside() -> None:
    noted = Noted()
    with pytest.raises(OSError):
        await pinned_get(noted, PUBLIC, PRIVATE)
    assert noted.asked == []
