from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sessions_app.domain.errors import ProviderAuth, ProviderOverloaded
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.anthropic import AnthropicAdapter
from sessions_app.providers.http import close_transports
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.outcomes import ask, collect
from tests.fakes.real_model import MODEL, real_model

FOLDER = Path(__file__).parent.parent / "fixtures" / "anthropic"
STREAM = (FOLDER / "llama_stream.sse").read_bytes()


async def test_request_goes_out_as_documented(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([STREAM]))
    outcome = await collect(AnthropicAdapter(), config, ask())
    sent = upstream.requests[0]
    assert outcome.finish is not None
    assert sent.path.endswith("/v1/messages")
    assert sent.headers["x-api-key"] == config.api_key
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert sent.headers["idempotency-key"] == "key-1"


# C06: the end of the message is the end, whatever the socket does.
async def test_held_socket_does_not_hold_the_reply(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([STREAM, HOLD]))
    outcome = await collect(AnthropicAdapter(), config, ask())
    assert outcome.finish is not None


async def test_overload_before_the_stream_is_a_status(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([b"{}"], status=529, content_type="application/json"))
    outcome = await collect(AnthropicAdapter(), config, ask())
    assert isinstance(outcome.error, ProviderOverloaded)


async def test_key_that_no_header_may_hold_is_not_sent(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    config = replace(config, api_key="ключ")
    outcome = await collect(AnthropicAdapter(), config, ask())
    assert isinstance(outcome.error, ProviderAuth)
    assert upstream.requests == []


@pytest.mark.model
@pytest.mark.timeout(120)
async def test_real_server_streams_and_answers_whole(tmp_path: Path) -> None:
    with real_model(tmp_path) as url:
        config = ProviderConfig("real", "anthropic", url, allow_private=True)
        for is_streaming in (True, False):
            request = replace(
                ask("Tell me a story", is_streaming=is_streaming, max_output_tokens=20),
                model=MODEL,
            )
            outcome = await collect(AnthropicAdapter(), config, request)
            assert outcome.error is None
            assert outcome.text
            assert outcome.usage.tokens_out == 20
        await close_transports()
