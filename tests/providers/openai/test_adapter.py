from __future__ import annotations

import asyncio
import time
import zlib

import pytest

from sessions_app.domain.errors import (
    BadResponse,
    ProviderAuth,
    ProviderRefused,
    StreamTruncated,
)
from sessions_app.domain.parts import FinishPart, StopReason, TextPart, UsagePart
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.http import close_transports
from sessions_app.providers.openai import OpenAIAdapter
from tests.fakes.fake_upstream import BROKEN, CUT, HOLD, RESET, FakeUpstream, Reply
from tests.fakes.openai_events import DONE, finish, text, usage
from tests.fakes.outcomes import ask, collect

STOP = FinishPart(StopReason.STOP)
GOOD = [text("Hel"), text("lo"), finish(), usage(7, 2), DONE]
REFUSED = Reply([b'{"error":{"message":"no stream_options"}}'], 400, framing="length")


async def test_reply_streams_as_parts(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply(GOOD))
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert outcome.deltas == ["Hel", "lo"]
    assert outcome.parts[-2:] == [UsagePart(7, 2), STOP]
    assert outcome.error is None


async def test_request_carries_the_headers(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply(GOOD))
    await collect(OpenAIAdapter(), config, ask())
    [exchange] = upstream.requests
    assert exchange.path == "/v1/chat/completions"
    assert exchange.headers["authorization"] == "Bearer sk-secret-of-the-test"
    assert exchange.headers["idempotency-key"] == "key-1"
    assert exchange.headers["accept-encoding"] == "identity"
    assert exchange.json["stream_options"] == {"include_usage": True}


async def test_delta_arrives_before_the_rest_is_sent(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    stream = OpenAIAdapter().stream(config, ask())
    assert await anext(stream) == [TextPart("Hel")]
    await stream.aclose()


# C01
async def test_character_cut_by_a_read_stays_whole(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    raw = b"".join([text("x").replace(b"x", "好🙂".encode()), finish(), DONE])
    at = raw.index("好".encode()) + 1
    upstream.enqueue(Reply([raw[:at], 0.05, raw[at:]]))
    assert (await collect(OpenAIAdapter(), config, ask())).text == "好🙂"


# C06
async def test_held_socket_after_done_is_closed(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([*GOOD, HOLD]))
    start = time.monotonic()
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert time.monotonic() - start < 1
    assert outcome.finish == STOP
    await upstream.requests[0].wait_hung_up()


async def test_connection_is_used_again(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply(GOOD))
    for _ in range(3):
        await collect(OpenAIAdapter(), config, ask())
    assert upstream.connections == 1


# C07
@pytest.mark.parametrize("end", [CUT, BROKEN, RESET])
async def test_broken_body_is_truncation(
    upstream: FakeUpstream, config: ProviderConfig, end: object
) -> None:
    upstream.enqueue(Reply([text("Hel"), 0.05, end]))
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, StreamTruncated)


# C07
@pytest.mark.parametrize(
    ("end", "pause_s"),
    [(CUT, 0), (CUT, 0.05), (BROKEN, 0), (BROKEN, 0.05), (RESET, 0.05)],
)
async def test_body_broken_after_finish_completes(
    upstream: FakeUpstream, config: ProviderConfig, end: object, pause_s: float
) -> None:
    upstream.enqueue(Reply([text("Hel"), 0.05, finish(), pause_s, end]))
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert outcome.finish == STOP


# C07
async def test_clean_end_without_marker_is_truncation(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([text("Hel")]))
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, StreamTruncated)


# C10
async def test_parts_of_a_read_come_before_its_error(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    error = b'event: error\ndata: {"error":{"type":"overloaded_error"}}\n\n'
    upstream.enqueue(Reply([text("Hel") + error]))
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert outcome.batches == [[TextPart("Hel")]]
    assert outcome.error is not None
    assert outcome.error.code == "provider_overloaded"


# C11
@pytest.mark.parametrize("is_streaming", [True, False])
async def test_whole_answer_is_accepted(
    upstream: FakeUpstream, config: ProviderConfig, is_streaming: bool
) -> None:
    answer = (
        b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],'
        b'"usage":{"prompt_tokens":3,"completion_tokens":1}}'
    )
    upstream.enqueue(Reply([answer], content_type="application/json", framing="length"))
    outcome = await collect(OpenAIAdapter(), config, ask(is_streaming=is_streaming))
    assert outcome.parts == [TextPart("Hi"), UsagePart(3, 1), STOP]
    assert upstream.requests[0].json["stream"] is is_streaming


# C11
async def test_stream_labelled_json_is_read_as_stream(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    steps = [b": ping\n\n", 0.05, *GOOD]
    upstream.enqueue(Reply(steps, content_type="application/json"))
    assert (await collect(OpenAIAdapter(), config, ask())).text == "Hello"


# C11
async def test_login_page_fails_before_it_ends(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([b"<html>Sign in", HOLD], content_type="text/html"))
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert isinstance(outcome.error, BadResponse)


# C24
@pytest.mark.parametrize("is_one_member", [True, False])
async def test_gzip_is_read_event_by_event(
    upstream: FakeUpstream, config: ProviderConfig, is_one_member: bool
) -> None:
    member = zlib.compressobj(wbits=31)
    steps: list[bytes] = []
    for raw in (text("Hel"), text("lo") + finish() + DONE):
        if not is_one_member:
            member = zlib.compressobj(wbits=31)
        mode = zlib.Z_SYNC_FLUSH if is_one_member else zlib.Z_FINISH
        steps.append(member.compress(raw) + member.flush(mode))
    upstream.enqueue(
        Reply([steps[0], 0.05, steps[1]], headers={"Content-Encoding": "gzip"})
    )
    outcome = await collect(OpenAIAdapter(), config, ask())
    assert [batch[0] for batch in outcome.batches] == [TextPart("Hel"), TextPart("lo")]


# C35 C36
async def test_closing_the_generator_hangs_up(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([text("Hel"), HOLD]))
    stream = OpenAIAdapter().stream(config, ask())
    await anext(stream)
    await stream.aclose()
    assert await upstream.requests[0].wait_hung_up() < 1


# C35 C36
@pytest.mark.parametrize("steps", [[text("Hel"), HOLD], [HOLD]])
async def test_cancelling_the_task_hangs_up(
    upstream: FakeUpstream, config: ProviderConfig, steps: list[object]
) -> None:
    upstream.enqueue(Reply(steps))
    task = asyncio.create_task(collect(OpenAIAdapter(), config, ask()))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await upstream.requests[0].wait_hung_up() < 1


# C36
async def test_cancelling_before_the_headers_hangs_up(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply([HOLD], framing="raw"))
    task = asyncio.create_task(collect(OpenAIAdapter(), config, ask()))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await upstream.requests[0].wait_hung_up() < 1


# C63
@pytest.mark.parametrize("status", [400, 422])
async def test_refused_usage_option_is_remembered(
    upstream: FakeUpstream, config: ProviderConfig, status: int
) -> None:
    refusal = Reply(REFUSED.steps, status, framing="length")
    upstream.enqueue(refusal, Reply(GOOD))
    adapter = OpenAIAdapter()
    for _ in range(2):
        assert (await collect(adapter, config, ask())).text == "Hello"
    asked = ["stream_options" in each.json for each in upstream.requests]
    assert asked == [True, False, False]
    assert {each.headers["idempotency-key"] for each in upstream.requests} == {"key-1"}


# C63
async def test_other_refusal_is_not_remembered(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(REFUSED, REFUSED, Reply(GOOD))
    adapter = OpenAIAdapter()
    outcome = await collect(adapter, config, ask())
    assert isinstance(outcome.error, ProviderRefused)
    await collect(adapter, config, ask())
    asked = ["stream_options" in each.json for each in upstream.requests]
    assert asked == [True, False, True]


async def test_no_key_sends_no_authorization(upstream: FakeUpstream) -> None:
    upstream.enqueue(Reply(GOOD))
    url = upstream.base_url + "/"
    bare = ProviderConfig(name="local", kind="openai", base_url=url, allow_private=True)
    await collect(OpenAIAdapter(), bare, ask())
    assert "authorization" not in upstream.requests[0].headers
    assert upstream.requests[0].path == "/v1/chat/completions"


async def test_key_that_fits_no_header_is_refused() -> None:
    odd = ProviderConfig(name="p", kind="openai", base_url="http://x", api_key="ключ")
    outcome = await collect(OpenAIAdapter(), odd, ask())
    assert isinstance(outcome.error, ProviderAuth)


def test_works_against_a_server_in_a_thread() -> None:
    with FakeUpstream.in_thread() as upstream:
        upstream.enqueue(Reply(GOOD))
        config = ProviderConfig(
            name="p",
            kind="openai",
            base_url=upstream.base_url,
            allow_private=True,
        )
        assert asyncio.run(_ask_and_close(config)) == "Hello"


async def _ask_and_close(config: ProviderConfig) -> str:
    outcome = await collect(OpenAIAdapter(), config, ask())
    await close_transports()
    return outcome.text
