"""The well-known wrong bills, through the engine: each with the right one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.engine.bills import (
    TEST_PRICE,
    anthropic_event,
    billed,
    completion,
    message,
    shop,
)
from tests.engine.conftest import Engine
from tests.fakes.fake_upstream import HOLD, Reply
from tests.fakes.openai_events import DONE, delta, event, finish, text, usage

D = Decimal


# Running totals were added up.
@pytest.mark.parametrize(
    ("kind", "steps", "expected"),
    [
        (
            "anthropic",
            message({"input_tokens": 25, "output_tokens": 1}, {"output_tokens": 15}),
            (25, 15),
        ),
        (
            "anthropic",
            message(
                {"input_tokens": 25, "output_tokens": 1},
                {"output_tokens": 10},
                {"output_tokens": 15},
            ),
            (25, 15),
        ),
        (
            "anthropic",
            message(
                {"input_tokens": 25, "cache_read_input_tokens": 75, "output_tokens": 1},
                {
                    "input_tokens": 25,
                    "cache_read_input_tokens": 75,
                    "cache_creation_input_tokens": 0,
                    "output_tokens": 15,
                },
            ),
            (100, 15),
        ),
        (
            "anthropic",
            message(
                {"input_tokens": 0, "output_tokens": 0},
                {"input_tokens": 25, "output_tokens": 15},
            ),
            (25, 15),
        ),
        (
            "openai",
            [
                event({"choices": [{"delta": {"content": "fi"}}]}),
                usage(10, 1),
                event({"choices": [{"delta": {"content": "ne"}}]}),
                usage(10, 2),
                finish(),
                usage(10, 3),
                DONE,
            ],
            (10, 3),
        ),
        (
            "openai",
            [
                event({"choices": [{"delta": {"content": "fine"}}], "usage": None}),
                event({"choices": [{"finish_reason": "stop"}], "usage": None}),
                usage(10, 3),
                DONE,
            ],
            (10, 3),
        ),
    ],
    ids=["delta", "two deltas", "repeated", "late input", "each chunk", "null"],
)
async def test_running_totals_are_not_added_up(
    engine: Engine, kind: str, steps: list[bytes], expected: tuple[int, int]
) -> None:
    async with shop(engine, kind, price=TEST_PRICE) as place:
        place.upstream.enqueue(Reply(steps))
        found = await place.run()
    assert (found["tokensIn"], found["tokensOut"]) == expected
    cached = found["cachedTokensIn"]
    cost = (expected[0] - cached) * 3 + cached * D("0.3") + expected[1] * 15
    assert (found["costUsd"], found["estimated"]) == (float(cost / 10**6), False)


# Cached tokens were charged twice, or subtracted twice; reasoning was added again.
@pytest.mark.parametrize(
    ("kind", "counts", "expected"),
    [
        (
            "openai",
            {
                "prompt_tokens": 2000,
                "completion_tokens": 300,
                "prompt_tokens_details": {"cached_tokens": 1900},
                "completion_tokens_details": {"reasoning_tokens": 120},
            },
            (2000, 300, 0.00537),
        ),
        (
            "anthropic",
            {
                "input_tokens": 100,
                "cache_read_input_tokens": 1900,
                "cache_creation_input_tokens": 0,
                "output_tokens": 300,
            },
            (2000, 300, 0.00537),
        ),
        (
            "anthropic",
            {
                "input_tokens": 100,
                "cache_read_input_tokens": 0,
                "cache_creation_input_tokens": 1900,
                "output_tokens": 300,
            },
            (2000, 300, 0.011925),
        ),
        (
            "openai",
            {
                "prompt_tokens": 32,
                "completion_tokens": 9,
                "completion_tokens_details": {"reasoning_tokens": 94},
                "total_tokens": 135,
            },
            (32, 103, 0.001641),
        ),
        (
            "openai",
            {
                "prompt_tokens": 21,
                "completion_tokens": 0,
                "completion_tokens_details": {"reasoning_tokens": 60},
                "prompt_tokens_details": None,
                "total_tokens": 81,
            },
            (21, 60, 0.000963),
        ),
    ],
    ids=["subset", "cache read", "cache write", "additive", "reasoning alone"],
)
async def test_cached_and_reasoning_tokens_are_billed_once(
    engine: Engine,
    kind: str,
    counts: dict[str, Any],
    expected: tuple[int, int, float],
) -> None:
    steps: list[bytes] = [text("fine"), finish(), event({"usage": counts}), DONE]
    if kind == "anthropic":
        steps = message(counts, {"output_tokens": counts["output_tokens"]})
    async with shop(engine, kind, price=TEST_PRICE) as place:
        place.upstream.enqueue(Reply(steps))
        assert billed(await place.run()) == (*expected, False)


async def test_stream_without_counts_is_estimated(engine: Engine) -> None:
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(Reply([text("x" * 200), finish(), DONE]))
        tokens_in, tokens_out, cost, is_estimated = billed(await place.run())
    assert (tokens_in > 0, tokens_out, is_estimated) == (True, 50, True)
    assert cost == float(D(tokens_in * 3 + 50 * 15) / 10**6)


async def test_count_of_zero_stays_zero(engine: Engine) -> None:
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(completion(0, 0))
        assert billed(await place.run()) == (0, 0, 0, False)


START = {"input_tokens": 25, "output_tokens": 1}


@pytest.mark.parametrize(
    ("kind", "steps", "tokens_in", "tokens_out"),
    [
        ("openai", [delta(content="x" * 200), HOLD], None, 50),
        ("anthropic", [*message(START, text="x" * 200)[:3], HOLD], 25, 50),
        ("openai", [HOLD], None, 0),
        ("anthropic", [anthropic_event("message_start", message={}), HOLD], None, 0),
    ],
    ids=["openai", "anthropic", "openai before text", "anthropic before text"],
)
async def test_cancelled_call_is_billed_for_what_came(
    engine: Engine,
    kind: str,
    steps: list[Any],
    tokens_in: int | None,
    tokens_out: int,
) -> None:
    async with shop(engine, kind, price=TEST_PRICE) as place:
        place.upstream.enqueue(Reply(steps))
        host = engine.hosts[0]
        posted = await engine.post()
        host.begin(posted.turn_id)
        await engine.until("message_delta" if tokens_out else "turn_started")
        while not place.upstream.requests:
            await engine.until("turn_started")
        host.cancel(posted.turn_id)
        events = await engine.events(posted)
    (done,) = [each for name, each in events if name == "message_completed"]
    found = billed(done["usage"])
    assert found[0] == tokens_in if tokens_in else found[0] > 0
    assert (found[1], found[3]) == (tokens_out, True)
    assert found[2] == float(D(found[0] * 3 + tokens_out * 15) / 10**6)


async def test_refused_usage_option_is_billed_by_an_estimate(engine: Engine) -> None:
    no_option = Reply([b'{"error":{"message":"stream_options"}}'], 400)
    bare = Reply([text("x" * 200), finish(), DONE])
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(no_option, bare, bare)
        bills = [await place.run(), await place.run("again")]
        asked = ["stream_options" in each.json for each in place.upstream.requests]
    assert [(each["tokensOut"], each["estimated"]) for each in bills] == [
        (50, True),
        (50, True),
    ]
    assert asked == [True, False, False]


async def test_rounds_of_a_turn_are_added_up(engine: Engine) -> None:
    engine.agent.tools = ["current_time"]
    call = {"index": 0, "id": "call_1", "function": {"name": "current_time"}}
    async with shop(engine, price=TEST_PRICE) as place:
        place.upstream.enqueue(
            Reply(
                [delta(tool_calls=[call]), finish("tool_calls"), usage(100, 20), DONE]
            ),
            completion(150, 30),
        )
        assert billed(await place.run()) == (250, 50, 0.0015, False)
