from __future__ import annotations

import time

import pytest

from sessions_app.domain.errors import ProviderFailed
from sessions_app.domain.parts import FinishPart, StopReason, TextPart
from sessions_app.domain.prompt import CompletionRequest, PromptMessage, ToolSpec
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.demo import DemoAdapter
from tests.fakes.outcomes import Outcome, ask, collect

CONFIG = ProviderConfig(name="demo", kind="demo")
FAST = DemoAdapter(words_per_s=1e9, slow_s=0.05)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
WEATHER = ToolSpec("weather", "Weather of a city", SCHEMA)


async def say(text: str, **more: object) -> Outcome:
    return await collect(FAST, CONFIG, ask(text, **more))


async def test_reply_is_honest_and_echoes() -> None:
    outcome = await say("Where is the harbour?")
    assert "> Where is the harbour?" in outcome.text
    assert "not a language model" in outcome.text
    assert outcome.finish == FinishPart(StopReason.STOP, model="demo")


async def test_replies_show_all_blocks_over_turns() -> None:
    texts = []
    for turns in range(1, 4):
        messages = [PromptMessage("user", "hi")] * turns
        request = CompletionRequest("demo", messages, "k")
        texts.append((await collect(FAST, CONFIG, request)).text)
    assert len(set(texts)) == 3
    for mark in ("## ", "\n- ", "```python\n", "|---|"):
        assert any(mark in text for text in texts)


async def test_words_stream_one_by_one() -> None:
    outcome = await say("hi")
    assert all(len(delta.split()) == 1 for delta in outcome.deltas)
    assert outcome.usage.tokens_out == len(outcome.deltas)
    assert outcome.usage.tokens_in == 1


async def test_words_come_at_the_pace() -> None:
    start = time.monotonic()
    request = ask("hi", max_output_tokens=6)
    outcome = await collect(DemoAdapter(words_per_s=50), CONFIG, request)
    assert 0.09 < time.monotonic() - start < 1
    assert outcome.finish == FinishPart(StopReason.LENGTH, model="demo")


async def test_plain_reply_is_one_batch() -> None:
    plain = await say("hi", is_streaming=False)
    assert len(plain.batches) == 1
    assert plain.text == (await say("hi")).text


async def test_early_failure_shows_nothing() -> None:
    outcome = await say("please /fail-early now")
    assert outcome.parts == []
    assert isinstance(outcome.error, ProviderFailed)


async def test_late_failure_shows_some_words() -> None:
    outcome = await say("/fail-late")
    assert len(outcome.deltas) == 5
    assert outcome.finish is None
    assert isinstance(outcome.error, ProviderFailed)


async def test_slow_waits_before_the_first_word() -> None:
    start = time.monotonic()
    stream = FAST.stream(CONFIG, ask("/slow"))
    [part] = await anext(stream)
    await stream.aclose()
    assert isinstance(part, TextPart)
    assert time.monotonic() - start >= 0.05


async def test_long_reply_has_600_words() -> None:
    assert 590 <= len((await say("/long")).text.split()) <= 660


@pytest.mark.parametrize("is_streaming", [True, False])
async def test_tool_is_asked_for(is_streaming: bool) -> None:
    outcome = await say("/tool Oslo", tools=[WEATHER], is_streaming=is_streaming)
    [call] = outcome.calls
    assert (call.name, call.arguments) == ("weather", {"city": "Oslo"})
    assert outcome.text == ""
    assert outcome.finish == FinishPart(StopReason.STOP, True, "demo")


async def test_tool_result_is_told() -> None:
    messages = [
        PromptMessage("user", "/tool"),
        PromptMessage("tool", "12 degrees", tool_call_id="a"),
    ]
    request = CompletionRequest("demo", messages, "k", tools=[WEATHER])
    outcome = await collect(FAST, CONFIG, request)
    assert "12 degrees" in outcome.text
    assert outcome.calls == []


async def test_missing_tool_is_told() -> None:
    outcome = await say("/tool")
    assert "No tool is offered" in outcome.text
