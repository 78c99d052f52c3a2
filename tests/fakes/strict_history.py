"""What strict providers demand of a history, in the shapes of both families."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sessions_app.domain.prompt import CompletionRequest, PromptMessage
from sessions_app.providers.anthropic import request as anthropic
from sessions_app.providers.openai import request as openai

Json = dict[str, Any]


def check_history(messages: Sequence[PromptMessage]) -> None:
    """Fail unless both families would take a request with these messages."""
    request = CompletionRequest("m", messages, "key")
    check_openai(json.loads(openai.request_body(request)))
    check_anthropic(json.loads(anthropic.request_body(request)))


def check_openai(body: Json) -> None:
    """Every call has its result directly after it, and no text is empty."""
    pending: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            assert message["tool_call_id"] in pending, "a result without its call"
            pending.remove(message["tool_call_id"])
            continue
        assert not pending, "a call without its result"
        pending = [call["id"] for call in message.get("tool_calls", [])]
        assert not seen & set(pending), "an id that comes twice"
        seen |= set(pending)
        assert message["role"] != "system" or index == 0, "a late system prompt"
        assert message["content"] or pending, "an empty text"
    assert not pending, "a call without its result"


def check_anthropic(body: Json) -> None:
    """Roles alternate from the user on; results open the turn after their calls."""
    messages: list[Json] = body["messages"]
    for index, message in enumerate(messages):
        assert message["role"] == ("user", "assistant")[index % 2], "wrong roles"
        assert message["content"], "a turn without content"
        for block in message["content"]:
            assert block["type"] != "text" or block["text"].strip(), "an empty text"
    assert messages[-1]["role"] == "user"
    for message, following in zip(messages, [*messages[1:], None], strict=True):
        used = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
        blocks = following["content"] if following else []
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert used == results, "calls and results do not match"
        kinds = [block["type"] for block in blocks[: len(results)]]
        assert set(kinds) <= {"tool_result"}, "results stand behind words"
    has_calls = any(b["type"] == "tool_use" for m in messages for b in m["content"])
    assert "tools" in body or not has_calls, "calls of tools that are not declared"
