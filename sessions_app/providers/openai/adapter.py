"""The adapter for everything that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sessions_app.domain.errors import ProviderRefused
from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.header_key import header_key
from sessions_app.providers.http import Upstream, post, read_reply
from sessions_app.providers.openai.request import request_body
from sessions_app.providers.openai.services import service_of
from sessions_app.providers.openai.stream import ReplyStream

PATH = "/chat/completions"
USAGE_OPTION = "stream_options"
# How servers that check their input refuse a field that they do not know.
_REFUSED_FIELD_STATUSES = (400, 422)


class OpenAIAdapter:
    """One POST a call; the reply is read as a stream whether asked for one or not."""

    def __init__(self) -> None:
        self._without_usage_option: set[tuple[str, str]] = set()

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        """See ``ProviderAdapter.stream``."""
        upstream = await self._open(config, request)
        reply = ReplyStream(
            config.api_key,
            with_raw=request.with_raw,
            usage_in=service_of(config).usage_in,
        )
        async with aclosing(read_reply(upstream, reply)) as batches:
            async for parts in batches:
                yield parts

    async def _open(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> Upstream:
        """The open answer; usage is asked for, unless this provider refuses that."""
        account = (config.name, config.base_url)
        ask_usage = (
            request.is_streaming
            and account not in self._without_usage_option
            and USAGE_OPTION not in service_of(config).refuses
        )
        try:
            return await self._post(config, request, ask_usage=ask_usage)
        except ProviderRefused as error:
            if not ask_usage or error.status not in _REFUSED_FIELD_STATUSES:
                raise
        upstream = await self._post(config, request, ask_usage=False)
        self._without_usage_option.add(account)
        return upstream

    async def _post(
        self, config: ProviderConfig, request: CompletionRequest, *, ask_usage: bool
    ) -> Upstream:
        service = service_of(config)
        body = request_body(request, service=service, ask_usage=ask_usage)
        return await post(config, PATH, headers=_headers(config, request), body=body)


def _headers(config: ProviderConfig, request: CompletionRequest) -> dict[str, str]:
    accept = "text/event-stream" if request.is_streaming else "application/json"
    headers = {"Accept": accept, "Idempotency-Key": request.idempotency_key}
    if key := header_key(config):
        if name := service_of(config).key_header:
            headers[name] = key
        else:
            headers["Authorization"] = f"Bearer {key}"
    return headers
