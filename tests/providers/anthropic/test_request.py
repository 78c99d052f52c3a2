from __future__ import annotations

from typing import Any

import msgspec

from sessions_app.domain.prompt import (
    CompletionRequest,
    PromptImage,
    PromptMessage,
    PromptToolCall,
    ToolChoice,
    ToolSpec,
)
from sessions_app.providers.anthropic.request import request_body

CALL = PromptToolCall("toolu_1", "add", {"x": 1})
ADD = ToolSpec("add", "Add", {"properties": {"x": {"type": "integer"}}})


def body(*messages: PromptMessage, **more: Any) -> dict[str, Any]:
    request = CompletionRequest("claude-x", messages, "key-1", **more)
    return dict(msgspec.json.decode(request_body(request)))


def said(role: Any, text: str = "x", **more: Any) -> PromptMessage:
    return PromptMessage(role, text, **more)


def test_system_prompt_stands_apart() -> None:
    sent = body(said("system", "Be kind."), said("user", "hi"))
    assert sent["system"] == "Be kind."
    assert sent["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    ]
    assert (sent["model"], sent["max_tokens"], sent["stream"]) == (
        "claude-x",
        4096,
        True,
    )


def test_results_open_the_users_turn_together() -> None:
    asked = said("assistant", "", tool_calls=(CALL, PromptToolCall("t2", "add", {})))
    results = [said("tool", "1", tool_call_id=i) for i in ("toolu_1", "t2")]
    sent = body(said("user"), asked, *results, tools=[ADD])["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert [b["type"] for b in sent[1]["content"]] == ["tool_use", "tool_use"]
    assert [b["tool_use_id"] for b in sent[2]["content"]] == ["toolu_1", "t2"]


# C37: what strict providers refuse
def test_conversation_is_always_valid() -> None:
    sent = body(
        said("assistant", "I begin"),
        said("user", "one"),
        said("assistant", ""),
        said("user", "two"),
        said("assistant", "  "),
        said("user", "three"),
    )["messages"]
    assert [m["role"] for m in sent] == ["user"]
    assert [b["text"] for b in sent[0]["content"]] == ["one", "two", "three"]


# Tool blocks of the past are refused where no tool is declared.
def test_withheld_tools_are_declared_but_not_allowed() -> None:
    asked = said("assistant", "", tool_calls=(CALL,))
    sent = body(said("user"), asked, said("tool", "1", tool_call_id="toolu_1"))
    assert [tool["name"] for tool in sent["tools"]] == ["add"]
    assert sent["tool_choice"] == {"type": "none"}


def test_choices_have_their_own_words() -> None:
    modes = [
        body(said("user"), tools=[ADD], tool_choice=choice).get("tool_choice")
        for choice in (
            ToolChoice(),
            ToolChoice("required"),
            ToolChoice("none"),
            ToolChoice("tool", "add"),
        )
    ]
    assert modes == [
        None,
        {"type": "any"},
        {"type": "none"},
        {"type": "tool", "name": "add"},
    ]


def test_temperature_stays_in_range() -> None:
    assert body(said("user"), temperature=1.7)["temperature"] == 1.0


def test_images_go_before_the_text() -> None:
    image = PromptImage("image/png", "aGk=")
    (sent,) = body(said("user", "Look", images=(image,)))["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    assert sent["content"] == [
        {"type": "image", "source": source},
        {"type": "text", "text": "Look"},
    ]
