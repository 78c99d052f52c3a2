from __future__ import annotations

import json
from typing import Any

from sessions_app.domain.prompt import PromptMessage, PromptToolCall, ToolSpec
from sessions_app.providers.openai.request import request_body
from tests.fakes.outcomes import ask


def body(*messages: PromptMessage, base_url: str = "", **more: Any) -> dict[str, Any]:
    request = ask(**more)
    if messages:
        request = type(request)("gpt-x", messages, "key-1", **more)
    return json.loads(request_body(request, base_url=base_url))


def test_stream_asks_for_usage() -> None:
    assert body() == {
        "model": "gpt-x",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_plain_request_has_no_stream_options() -> None:
    found = body(is_streaming=False)
    assert found["stream"] is False
    assert "stream_options" not in found


def test_tool_round_goes_back_with_matching_ids() -> None:
    call = PromptToolCall("a", "add", {"x": 1})
    found = body(
        PromptMessage("assistant", tool_calls=(call,)),
        PromptMessage("tool", "", tool_call_id="a"),
    )["messages"]
    function = {"name": "add", "arguments": '{"x":1}'}
    assert found == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "a", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "", "tool_call_id": "a"},
    ]


# C37
def test_empty_text_is_left_out() -> None:
    found = body(PromptMessage("assistant", ""), PromptMessage("user", "hi"))
    assert [each["role"] for each in found["messages"]] == ["user"]


def test_tools_are_offered_as_functions() -> None:
    found = body(tools=[ToolSpec("add", "Adds.", {"type": "object"})])
    function = {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}
    assert found["tools"] == [{"type": "function", "function": function}]


def test_limit_has_the_name_the_host_knows() -> None:
    assert body(max_output_tokens=9)["max_tokens"] == 9
    official = body(base_url="https://api.openai.com/v1", max_output_tokens=9)
    assert official["max_completion_tokens"] == 9
    assert "max_tokens" not in official


def test_temperature_of_zero_is_sent() -> None:
    assert body(temperature=0.0)["temperature"] == 0.0
    assert "temperature" not in body()
