from __future__ import annotations

import json
import re
from typing import Any

import pytest

from sessions_app.domain.prompt import (
    PromptImage,
    PromptMessage,
    PromptToolCall,
    ToolChoice,
    ToolSpec,
)
from sessions_app.providers.openai.request import request_body
from sessions_app.providers.openai.services import UNKNOWN, services
from tests.fakes.outcomes import ask


def body(*messages: PromptMessage, service: str = "", **more: Any) -> dict[str, Any]:
    request = ask(**more)
    if messages:
        request = type(request)("gpt-x", messages, "key-1", **more)
    found = services()[service] if service else UNKNOWN
    return json.loads(request_body(request, service=found))


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


def test_limit_has_the_name_the_service_knows() -> None:
    assert body(max_output_tokens=9)["max_tokens"] == 9
    for name in ("openai", "azure"):
        official = body(service=name, max_output_tokens=9)
        assert official["max_completion_tokens"] == 9
        assert "max_tokens" not in official


@pytest.mark.parametrize("service", ["mistral", "openrouter"])
def test_refused_usage_option_is_not_sent(service: str) -> None:
    assert "stream_options" not in body(service=service)


ADD, SUB = ToolSpec("add", "Adds.", {}), ToolSpec("sub", "Subtracts.", {})


def offered(service: str, choice: ToolChoice) -> tuple[list[str], Any]:
    found = body(service=service, tools=[ADD, SUB], tool_choice=choice)
    names = [each["function"]["name"] for each in found.get("tools", [])]
    return names, found.get("tool_choice")


def test_named_tool_is_offered_alone_where_none_can_be_named() -> None:
    named = ToolChoice("tool", "sub")
    by_name = {"type": "function", "function": {"name": "sub"}}
    assert offered("", named) == (["add", "sub"], by_name)
    assert offered("lmstudio", named) == (["sub"], "required")
    assert offered("llamacpp", named) == (["sub"], "required")
    assert offered("ollama", named) == (["sub"], None)


def test_choice_that_is_ignored_is_made_by_the_offer() -> None:
    assert offered("ollama", ToolChoice("none")) == ([], None)
    assert offered("ollama", ToolChoice("required")) == (["add", "sub"], None)
    assert offered("lmstudio", ToolChoice("none")) == (["add", "sub"], "none")


# Mistral: "must be a-z, A-Z, 0-9, with a length of 9", also after a failover.
def test_foreign_call_ids_fit_the_service() -> None:
    calls = (
        PromptToolCall("call_0fypS1hVX", "add", {}),
        PromptToolCall("a1B2c3D4e", "sub", {}),
    )
    found = body(
        PromptMessage("assistant", tool_calls=calls),
        PromptMessage("tool", "1", tool_call_id="call_0fypS1hVX"),
        PromptMessage("tool", "2", tool_call_id="a1B2c3D4e"),
        service="mistral",
    )["messages"]
    first, second = (call["id"] for call in found[0]["tool_calls"])
    assert re.fullmatch("[A-Za-z0-9]{9}", first)
    assert second == "a1B2c3D4e"
    assert [each["tool_call_id"] for each in found[1:]] == [first, second]


def test_temperature_of_zero_is_sent() -> None:
    assert body(temperature=0.0)["temperature"] == 0.0
    assert "temperature" not in body()


def test_images_go_as_data_urls() -> None:
    image = PromptImage("image/png", "aGk=")
    sent = body(PromptMessage("user", "Look", images=(image,)))["messages"][0]
    assert sent["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]
    alone = body(PromptMessage("user", images=(image,)))["messages"][0]
    assert [part["type"] for part in alone["content"]] == ["image_url"]
