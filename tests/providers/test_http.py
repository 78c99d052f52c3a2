from __future__ import annotations

import asyncio
import socket
import time
from dataclasses import replace

import pytest

from sessions_app.domain.errors import (
    BadResponse,
    ProviderAuth,
    ProviderError,
    ProviderFailed,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnreachable,
)
from sessions_app.domain.policy import may_fail_over
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers import http
from sessions_app.providers.http import close_transports, post, shared_transport
from tests.fakes.fake_upstream import CUT, HOLD, RESET, FakeUpstream, Reply

OK = Reply([b"{}"], framing="length")


async def send(config: ProviderConfig) -> bytes:
    upstream = await post(config, "/x", headers={"Idempotency-Key": "k"}, body=b"{}")
    try:
        return b"".join([raw async for raw in upstream.reads()])
    finally:
        await upstream.aclose()


async def failure(config: ProviderConfig) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await send(config)
    return caught.value


# C10
@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (302, ProviderFailed, True),
        (400, ProviderRefused, False),
        (401, ProviderAuth, True),
        (402, ProviderFailed, True),
        (403, ProviderAuth, True),
        (404, ProviderFailed, True),
        (408, ProviderTimeout, True),
        (413, ProviderRefused, False),
        (422, ProviderRefused, False),
        (429, ProviderRateLimited, True),
        (500, ProviderFailed, True),
        (502, ProviderFailed, True),
        (503, ProviderOverloaded, True),
        (529, ProviderOverloaded, True),
    ],
)
async def test_status_is_mapped(
    upstream: FakeUpstream,
    config: ProviderConfig,
    status: int,
    kind: type[ProviderError],
    retryable: bool,
) -> None:
    headers = {"Location": "/y", "Retry-After": "7"}
    upstream.enqueue(Reply([b"why"], status, headers, framing="length"))
    error = await failure(config)
    assert type(error) is kind
    assert (error.status, error.retry_after_s) == (status, 7.0)
    assert may_fail_over(error, deltas_sent=0) is retryable
    assert "why" in error.diagnosis


async def test_error_body_is_redacted(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    body = f'{{"error":"key {config.api_key} at https://inner.example/x?k=1"}}'
    upstream.enqueue(Reply([body.encode()], 401, framing="length"))
    error = await failure(config)
    assert config.api_key not in error.diagnosis
    assert "inner.example" not in error.diagnosis
    assert "inner" not in error.message


async def test_endless_error_body_is_capped(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([b"x" * 100_000, HOLD], 500))
    assert (await failure(config)).status == 500
    await upstream.requests[0].wait_hung_up()


async def test_dripping_error_body_has_a_limit(
    upstream: FakeUpstream, config: ProviderConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "ERROR_BODY_TIMEOUT_S", 0.1)
    upstream.enqueue(Reply([b"why", HOLD], 500))
    assert "why" in (await failure(config)).diagnosis


async def test_refused_connection_is_unreachable(
    config: ProviderConfig, unused_tcp_port: int
) -> None:
    closed = replace(config, base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")
    error = await failure(closed)
    assert type(error) is ProviderUnreachable
    assert error.__cause__ is not None


# C22
async def test_connect_has_a_time_limit(config: ProviderConfig) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:  # the backlog is full: no more handshakes
            filler.setblocking(False)
            filler.connect_ex(address)
        url = f"http://127.0.0.1:{address[1]}/v1"
        slow = replace(config, base_url=url, connect_timeout_s=0.2)
        start = time.monotonic()
        assert type(await failure(slow)) is ProviderTimeout
        assert time.monotonic() - start < 2
        for filler in fillers:
            filler.close()


@pytest.mark.parametrize(
    "url", ["", "nonsense", "ftp://x/v1", "http://[::1", "http://"]
)
async def test_bad_base_url_is_unreachable(config: ProviderConfig, url: str) -> None:
    assert type(await failure(replace(config, base_url=url))) is ProviderUnreachable


@pytest.mark.parametrize("mark", [CUT, RESET])
async def test_no_answer_on_new_connection_is_unreachable(
    upstream: FakeUpstream, config: ProviderConfig, mark: object
) -> None:
    upstream.enqueue(Reply([mark], framing="raw"))
    assert type(await failure(config)) is ProviderUnreachable
    assert len(upstream.requests) == 1


async def test_answer_that_is_no_http_is_bad(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([b"SSH-2.0-x\r\n\r\n"], framing="raw"))
    assert type(await failure(config)) is BadResponse


@pytest.mark.parametrize("mark", [CUT, RESET])
async def test_dead_pooled_connection_is_replaced_once(
    upstream: FakeUpstream, config: ProviderConfig, mark: object
) -> None:
    upstream.enqueue(OK, Reply([mark], framing="raw"), OK)
    assert await send(config) == b"{}"
    assert await send(config) == b"{}"
    assert [each.connection for each in upstream.requests] == [1, 1, 2]
    assert {each.headers["idempotency-key"] for each in upstream.requests} == {"k"}


async def test_second_dead_connection_is_unreachable(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(OK, Reply([CUT], framing="raw"))
    await send(config)
    assert type(await failure(config)) is ProviderUnreachable
    assert len(upstream.requests) == 3


async def test_cookies_are_never_kept(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([b"{}"], headers={"Set-Cookie": "a=b"}, framing="length"))
    await send(config)
    await send(config)
    assert "cookie" not in upstream.requests[1].headers


async def test_connections_have_no_limit(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([b"x", HOLD]))
    opened = await asyncio.gather(
        *[post(config, "/x", headers={}, body=b"{}") for _ in range(150)]
    )
    assert upstream.connections == 150
    for each in opened:
        await each.aclose()


async def test_transport_belongs_to_its_loop() -> None:
    transport = shared_transport(allow_private=True)
    assert shared_transport(allow_private=True) is transport
    other = await asyncio.to_thread(asyncio.run, _transport_of_a_new_loop())
    assert other is not transport
    await close_transports()
    assert shared_transport(allow_private=True) is not transport
    await close_transports()


async def _transport_of_a_new_loop() -> object:
    transport = shared_transport(allow_private=True)
    await close_transports()
    return transport


@pytest.mark.parametrize("coding", ["br", "zstd", "nonsense"])
async def test_unknown_coding_is_bad(
    upstream: FakeUpstream, config: ProviderConfig, coding: str
) -> None:
    upstream.enqueue(Reply([b"x", HOLD], headers={"Content-Encoding": coding}))
    assert type(await failure(config)) is BadResponse
    await upstream.requests[0].wait_hung_up()


async def test_broken_gzip_is_bad(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([b"plain text"], headers={"Content-Encoding": "gzip"}))
    assert type(await failure(config)) is BadResponse


# C71: a provider's address is the host's choice, but a mistyped or hostile one may not
# lead into the server's own network unless the host said so.
async def test_private_address_is_not_asked_unless_allowed(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    error = await failure(replace(config, allow_private=False))
    assert isinstance(error, ProviderUnreachable)
    assert "not a public address" in error.diagnosis
    assert upstream.requests == []
