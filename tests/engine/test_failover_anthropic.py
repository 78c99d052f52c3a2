"""The cases of C10 in the shape of Anthropic's Messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessions_app.models import Provider
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.upstreams import deltas, end, upstreams
from tests.fakes.fake_upstream import Reply


def event(kind: str, **fields: Any) -> bytes:
    body = json.dumps({"type": kind, **fields})
    return f"event: {kind}\ndata: {body}\n\n".encode()


def delta(kind: str, **fields: str) -> bytes:
    return event("content_block_delta", index=0, delta={"type": kind, **fields})


START = event(
    "message_start",
    message={"role": "assistant", "usage": {"input_tokens": 25, "output_tokens": 1}},
)
BLOCK = event("content_block_start", index=0, content_block={"type": "text"})
PING = event("ping")
ERROR = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
HEL = delta("text_delta", text="Hel")
THINK = delta("thinking_delta", thinking="hm")


async def anthropic_first() -> None:
    row = await in_thread(Provider.objects.get, name="primary")
    row.kind = "anthropic"
    await in_thread(row.save)


@pytest.mark.parametrize(
    "reply",
    [
        Reply([START, PING, BLOCK, ERROR]),
        Reply([START + PING + BLOCK + ERROR]),
        Reply([START, BLOCK, THINK, ERROR]),
        Reply([START, BLOCK]),
    ],
    ids=["A", "A in one read", "T", "B"],
)
async def test_failure_before_text_fails_over(engine: Engine, reply: Reply) -> None:
    async with upstreams(engine, reply) as pair:
        await anthropic_first()
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")
    assert (deltas(events), pair.asked) == ([(1, "fine")], (1, 1))


@pytest.mark.parametrize(
    "reply",
    [
        Reply([START, BLOCK, HEL, 0.05, ERROR]),
        Reply([START + BLOCK + HEL + ERROR]),
        Reply([START, BLOCK, HEL]),
    ],
    ids=["C", "D", "cut"],
)
async def test_failure_after_text_is_an_error(engine: Engine, reply: Reply) -> None:
    async with upstreams(engine, reply) as pair:
        await anthropic_first()
        events = await pair.run()
    assert end(events)[0] == "message_error"
    assert (deltas(events), pair.asked) == ([(1, "Hel")], (1, 0))


TOO_LONG = {
    "type": "invalid_request_error",
    "message": "prompt is too long: 210000 tokens > 200000 maximum",
}


@pytest.mark.parametrize(
    "reply",
    [
        Reply(
            [json.dumps({"type": "error", "error": TOO_LONG}).encode()],
            400,
            content_type="application/json",
        ),
        Reply([event("error", error=TOO_LONG)]),
    ],
    ids=["400", "in a stream"],
)
async def test_too_long_prompt_is_not_asked_elsewhere(
    engine: Engine, reply: Reply
) -> None:
    async with upstreams(engine, reply) as pair:
        await anthropic_first()
        events = await pair.run()
    assert end(events) == ("turn_failed", "provider_refused")
    assert pair.asked == (1, 0)
