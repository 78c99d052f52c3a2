"""The adapter for everything that speaks Anthropic's Messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.anthropic.request import request_body
from sessions_app.providers.anthropic.stream import MessageStream
from sessions_app.providers.header_key import header_key
from sessions_app.providers.http import post, read_reply

PATH = "/messages"
VERSION = "2023-06-01"


class AnthropicAdapter:
    """One POST a call; the reply is read as a stream whether asked for one or not."""

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        """See ``ProviderAdapter.stream``."""
        upstream = await post(
            config, PATH, headers=_headers(config, request), body=request_body(request)
        )
        reply = MessageStream(config.api_key, with_raw=request.with_raw)
        async with aclosing(read_reply(upstream, reply)) as batches:
            async for parts in batches:
                yield parts


def _headers(config: ProviderConfig, request: CompletionRequest) -> dict[str, str]:
    accept = "text/event-stream" if request.is_streaming else "application/json"
    headers = {
        "Accept": accept,
        "anthropic-version": VERSION,
        "Idempotency-Key": request.idempotency_key,
    }
    if key := header_key(config):
        headers["x-api-key"] = key
    return headers
