"""The adapter for models that answer a prompt with raw text."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sessions_app.domain.errors import BadResponse
from sessions_app.domain.parts import Part
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.header_key import header_key
from sessions_app.providers.http import post
from sessions_app.providers.raw_text import TextStream
from sessions_app.providers.truss.request import request_body


class TrussAdapter:
    """One POST a call to ``base_url`` itself.

    The only end marker is that of HTTP, so a body that breaks is a reply cut short.
    """

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        """See ``ProviderAdapter.stream``."""
        upstream = await post(
            config, "", headers=_headers(config, request), body=request_body(request)
        )
        try:
            if upstream.content_type == "text/html":
                raise BadResponse(diagnosis="the answer is a page of markup")
            reply = TextStream()
            async with aclosing(upstream.reads()) as reads:
                async for raw in reads:
                    parts = reply.feed(raw)
                    if parts:
                        yield parts
            yield reply.end()
        finally:
            await upstream.aclose()


def _headers(config: ProviderConfig, request: CompletionRequest) -> dict[str, str]:
    headers = {"Accept": "text/plain, */*", "Idempotency-Key": request.idempotency_key}
    if key := header_key(config):
        headers["Authorization"] = f"Bearer {key}"
    return headers
