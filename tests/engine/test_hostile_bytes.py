"""Answers that parse, and hold what no store or reader could take."""

from __future__ import annotations

import json

import pytest

from sessions_app.models import Attempt, ToolCall
from sessions_app.store.db import in_thread
from tests.engine.bills import TEST_PRICE, completion, shop
from tests.engine.conftest import Engine
from tests.engine.upstreams import end
from tests.fakes.fake_upstream import Reply
from tests.fakes.openai_events import DONE, finish, text


def asks(arguments: str, call_id: str = "call_1") -> Reply:
    """A call of the clock whose arguments are this JSON, as an object."""
    head = '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":%s,"function":'
    tail = '{"name":"current_time","arguments":%s}}]}}]}'
    body = head % json.dumps(call_id) + tail % arguments
    return Reply([f"data: {body}\n\n".encode(), finish("tool_calls"), DONE])


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a":NaN}',
        '{"a":1e999}',
        '{"a":1' + "0" * 300 + "}",
        '{"a":' + "9" * 5000 + "}",
        '{"a":' + "[" * 60 + "]" * 60 + "}",
        '{"a":' + "[" * 480 + "]" * 480 + "}",
        '{"a":' + "[" * 900 + "]" * 900 + "}",
        '{"a":' + "[" * 50_000 + "]" * 50_000 + "}",
        '"' + "[" * 900 + "]" * 900 + '"',
        '"{\\"a\\":NaN,\\"b\\":1e999}"',
        '{"a":"\\u0000\\ud800","\\u0000":1}',
    ],
    ids=lambda value: f"{value[:12]}…{len(value)}",
)
async def test_odd_arguments_end_the_turn_once(engine: Engine, arguments: str) -> None:
    engine.agent.tools = ["current_time"]
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(asks(arguments), completion(1, 1))
        kind, said = end(await place.events())
    assert (kind, said) in {
        ("message_completed", "fine"),
        ("turn_failed", "provider_bad_response"),
    }


async def test_long_call_id_ends_the_turn_once(engine: Engine) -> None:
    engine.agent.tools = ["current_time"]
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(asks("{}", "c" * 100_000), completion(1, 1))
        assert end(await place.events()) == ("message_completed", "fine")
    assert await in_thread(ToolCall.objects.count) == 1


@pytest.mark.parametrize(
    "count", ["4294967296", "1e300", "9" * 40, "9" * 4000, "1e999", "-1"]
)
async def test_count_beyond_reason_is_estimated(engine: Engine, count: str) -> None:
    counts = f'{{"usage":{{"prompt_tokens":{count},"completion_tokens":{count}}}}}'
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(
            Reply([text("fine"), finish(), f"data: {counts}\n\n".encode(), DONE])
        )
        assert end(await place.events()) == ("message_completed", "fine")
    attempt = await in_thread(Attempt.objects.get)
    assert (attempt.is_estimated, attempt.tokens_out) == (True, 1)
