"""How all adapters reach their providers, and the failures as provider errors.

httpx runs on aiohttp's transport: its own engine costs 85 to 104 µs a token and
slows down with the square of the open streams, the transport costs a third.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from contextvars import ContextVar
from functools import lru_cache, partial
from weakref import WeakKeyDictionary, WeakSet

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from httpx_aiohttp.transport import AiohttpResponseStream

from sessions_app.domain.errors import (
    BadResponse,
    ProviderError,
    ProviderTimeout,
    ProviderUnreachable,
    StreamTruncated,
)
from sessions_app.domain.parts import Part
from sessions_app.domain.route import ProviderConfig
from sessions_app.outbound.addresses import check_url
from sessions_app.outbound.client import new_connector
from sessions_app.providers.inflate import inflater_for
from sessions_app.providers.redaction import redact
from sessions_app.providers.reply_reader import ReplyReader
from sessions_app.providers.status_errors import error_for_status, parse_retry_after

KEEPALIVE_S = 15.0
ANSWER = "lantern_answer"
MAX_ERROR_BODY_BYTES = 64 * 1024
ERROR_BODY_TIMEOUT_S = 5.0
DRAIN_S = 0.05
BASE_HEADERS = {
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "lantern",
}

_transports: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[bool, _Transport]]
_transports = WeakKeyDictionary()
_cut_answers: WeakSet[aiohttp.ClientResponse] = WeakSet()
_is_reused: ContextVar[bool] = ContextVar("provider_connection_is_reused")


class _Transport(AiohttpTransport):
    """Hands out the body's own reader beside httpx's.

    httpx wraps it in four generators, each of which every token would pass.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        stream = response.stream
        assert isinstance(stream, AiohttpResponseStream)
        response.extensions[ANSWER] = stream._aiohttp_response
        return response


def shared_transport(*, allow_private: bool) -> _Transport:
    """The running loop's way to public addresses, or to all; made at first use.

    Without a client of httpx around it: its redirects, cookies and credentials are
    not wanted here, and take as long as all else that httpx does for a request.
    """
    loop = asyncio.get_running_loop()
    mine = _transports.get(loop)
    if mine is None:
        for other in [each for each in _transports if each.is_closed()]:
            del _transports[other]
        mine = _transports[loop] = {}
    if allow_private not in mine:
        new_session = partial(_new_session, allow_private)
        mine[allow_private] = _Transport(verify=_tls_context(), client=new_session)
    return mine[allow_private]


async def close_transports() -> None:
    """Close the running loop's transports and their pooled connections."""
    for transport in _transports.pop(asyncio.get_running_loop(), {}).values():
        await transport.aclose()


def _new_session(allow_private: bool) -> aiohttp.ClientSession:
    # The transport would leave aiohttp's limit of 100 for httpx's "no limit".
    connector = new_connector(
        allow_private, keepalive_timeout=KEEPALIVE_S, ssl=_tls_context()
    )
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    trace.on_request_end.append(_end_body_with_connection)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[trace],
        trust_env=False,
    )


async def _note_reuse(*_: object) -> None:
    _is_reused.set(True)


async def _end_body_with_connection(
    _: object, __: object, params: aiohttp.TraceRequestEndParams
) -> None:
    """End the body when its connection is lost: aiohttp 3.14 forgets to.

    After bytes that are no chunk it closes the connection and leaves the reader
    waiting for ever. Unlike an exception a plain end lets the reader have what came
    before; ``Upstream.reads`` raises after it.
    """
    connection, content = params.response.connection, params.response.content
    if connection is None or connection.protocol is None:
        return  # the whole body is here
    closed = connection.protocol.closed

    def end(*_: object) -> None:
        if not content.is_eof() and content.exception() is None:
            _cut_answers.add(params.response)
            content.feed_eof()

    if closed is None:
        end()
        return

    def forget() -> None:
        closed.remove_done_callback(end)

    # The future lives as long as the connection, and must not keep each body.
    closed.add_done_callback(end)
    content.on_eof(forget)
    closed.remove_done_callback(_note_outcome)
    closed.add_done_callback(_note_outcome)


def _note_outcome(closed: asyncio.Future[None]) -> None:
    """Look at the exception, as asyncio logs those that nobody looked at."""
    if not closed.cancelled():
        closed.exception()


@lru_cache(maxsize=1)
def _tls_context() -> ssl.SSLContext:
    """certifi's roots and the machine's own, for private certificate authorities."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


class Upstream:
    """An open 2xx answer; its owner closes it."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self._inflater = inflater_for(response.headers.get("content-encoding"))

    @property
    def content_type(self) -> str:
        """The media type that the answer claims, without parameters; "" if none."""
        found: str = self._response.headers.get("content-type", "")
        return found.partition(";")[0].strip().lower()

    async def reads(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives, decompressed; raises only provider errors."""
        inflater = self._inflater
        answer: aiohttp.ClientResponse = self._response.extensions[ANSWER]
        content = answer.content
        try:
            while raw := await content.readany():
                yield raw if inflater is None else inflater.feed(raw)
            if answer in _cut_answers:
                raise StreamTruncated(diagnosis="the connection broke")
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise _broken_body(error) from error

    async def aclose(self) -> None:
        """Close the connection, or give it back to the pool if all was read."""
        with suppress(httpx.HTTPError, aiohttp.ClientError, OSError):
            await self._response.aclose()


async def drain(reads: AsyncGenerator[bytes, None]) -> None:
    """Read on shortly after the protocol's end, so that the connection is kept."""
    with suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(DRAIN_S):
            async for _ in reads:
                pass


async def read_reply(
    upstream: Upstream, reply: ReplyReader
) -> AsyncGenerator[list[Part], None]:
    """The parts of one answer, all those of one read together; closes it at the end.

    Raises the reply's error after the parts that came before it. A body that breaks
    after its end marker is whole all the same.
    """
    try:
        broken: StreamTruncated | None = None
        async with aclosing(upstream.reads()) as reads:
            try:
                async for raw in reads:
                    parts = reply.feed(raw)
                    if parts:
                        yield parts
                    if reply.is_done:
                        break
            except StreamTruncated as error:
                broken = error
            parts = reply.end()
            if parts:
                yield parts
            if reply.error is not None:
                raise broken or reply.error
            if broken is None:
                await drain(reads)
    finally:
        await upstream.aclose()


async def post(
    config: ProviderConfig, path: str, *, headers: Mapping[str, str], body: bytes
) -> Upstream:
    """POST below ``base_url`` and return the open answer.

    Raises a ProviderError for a failed connection or a status that is not 2xx. A
    pooled connection that turns out dead is replaced once, with the same headers
    and so the same ``Idempotency-Key``.
    """
    try:
        response = await _send(config, path, headers, body)
    except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
        if not (_is_reused.get(False) and _is_dead_connection(error)):
            raise _no_answer(error, config) from error
        try:
            response = await _send(config, path, headers, body)
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as second:
            raise _no_answer(second, config) from second
    except (httpx.InvalidURL, ValueError) as error:
        raise ProviderUnreachable(
            diagnosis=f"the request cannot be made: {type(error).__name__}"
        ) from error
    try:
        if response.is_success:
            return Upstream(response)
        raise await _refusal(response, config)
    except BaseException:
        await response.aclose()
        raise


async def _send(
    config: ProviderConfig, path: str, headers: Mapping[str, str], body: bytes
) -> httpx.Response:
    _is_reused.set(False)
    if not config.allow_private:
        check_url(config.base_url, allow_private=False)
    # Silence is the caller's to judge; here only the connect has a limit. The
    # pool's limit covers the DNS look-up, which the connect's does not.
    timeout = httpx.Timeout(
        None, connect=config.connect_timeout_s, pool=config.connect_timeout_s
    )
    request = httpx.Request(
        "POST",
        _url(config.base_url, path),
        content=body,
        headers={**BASE_HEADERS, **headers},
        extensions={"timeout": timeout.as_dict()},
    )
    transport = shared_transport(allow_private=config.allow_private)
    return await transport.handle_async_request(request)


@lru_cache(maxsize=256)
def _url(base_url: str, path: str) -> httpx.URL:
    """Raises httpx.InvalidURL."""
    return httpx.URL(base_url.rstrip("/") + path)


async def _refusal(response: httpx.Response, config: ProviderConfig) -> ProviderError:
    text = redact(await _error_body(response), config.api_key)
    return error_for_status(
        response.status_code,
        diagnosis=f"HTTP {response.status_code}: {text}",
        retry_after_s=parse_retry_after(response.headers.get("retry-after")),
    )


async def _error_body(response: httpx.Response) -> str:
    body = bytearray()
    with suppress(
        TimeoutError, httpx.HTTPError, aiohttp.ClientError, OSError, BadResponse
    ):
        inflater = inflater_for(response.headers.get("content-encoding"))
        async with asyncio.timeout(ERROR_BODY_TIMEOUT_S):
            async for raw in response.aiter_raw():
                body += raw if inflater is None else inflater.feed(raw)
                if len(body) >= MAX_ERROR_BODY_BYTES:
                    break
    return bytes(body[:MAX_ERROR_BODY_BYTES]).decode("utf-8", "replace")


def _root(error: BaseException) -> BaseException:
    """aiohttp's own error: the transport calls each broken link a ConnectTimeout."""
    cause = error.__cause__
    return cause if isinstance(cause, aiohttp.ClientError) else error


def _is_dead_connection(error: BaseException) -> bool:
    root = _root(error)
    return isinstance(
        root, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError | OSError
    ) and not isinstance(root, aiohttp.ClientConnectorError | TimeoutError)


def _no_answer(error: BaseException, config: ProviderConfig) -> ProviderError:
    root = _root(error)
    diagnosis = redact(f"{type(root).__name__}: {root}", config.api_key)
    if isinstance(root, TimeoutError | httpx.TimeoutException):
        return ProviderTimeout(diagnosis=diagnosis)
    if isinstance(root, aiohttp.ClientResponseError | aiohttp.ClientPayloadError):
        return BadResponse(diagnosis=diagnosis)
    return ProviderUnreachable(diagnosis=diagnosis)


def _broken_body(error: BaseException) -> ProviderError:
    root = _root(error)
    diagnosis = redact(f"{type(root).__name__}: {root}", "")
    if isinstance(root, TimeoutError | httpx.TimeoutException):
        return ProviderTimeout(diagnosis=diagnosis)
    return StreamTruncated(diagnosis=diagnosis)
