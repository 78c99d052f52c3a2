"""What strict providers demand of a history, in the shapes of both families."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sessions_app.domain.prompt import CompletionRequest, PromptMessage
from sessions_app.providers.openai.request import request_body


def check_history(messages: Sequence[PromptMessage]) -> None:
    """Fail unless both families would take these messages."""
    request = CompletionRequest("m", messages, "key")
    check_openai(json.loads(request_body(request))["messages"])
    check_anthropic(messages)


def check_openai(messages: list[dict[str, Any]]) -> None:
    """Every call has its result directly after it, and no text is empty."""
    pending: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            assert message["tool_call_id"] in pending, "a result without its call"
            pending.remove(message["tool_call_id"])
            continue
        assert not pending, "a call without its result"
        pending = [call["id"] for call in message.get("tool_calls", [])]
        assert not seen & set(pending), "an id that comes twice"
        seen |= set(pending)
        assert message["role"] != "system" or index == 0
        assert message["content"] or pending, "an empty text"
    assert not pending, "a call without its result"


def check_anthropic(messages: Sequence[PromptMessage]) -> None:
    """Roles alternate from the user on; results stand at the head of the next turn."""
    blocks: list[tuple[str, list[str]]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "user" if message.role == "tool" else message.role
        kinds = ["text"] if message.content and message.role != "tool" else []
        kinds += [f"use:{call.call_id}" for call in message.tool_calls]
        kinds += [f"result:{message.tool_call_id}"] if message.role == "tool" else []
        assert kinds, "a message without content"
        if blocks and blocks[-1][0] == role and message.role == "tool":
            blocks[-1][1].extend(kinds)
        else:
            blocks.append((role, kinds))
    roles = [role for role, _ in blocks]
    assert roles == [("user", "assistant")[i % 2] for i in range(len(roles))], roles
    assert roles[-1] == "user"
    for (_, kinds), (_, following) in zip(blocks, blocks[1:], strict=False):
        uses = {kind[4:] for kind in kinds if kind.startswith("use:")}
        results = {kind[7:] for kind in following if kind.startswith("result:")}
        assert uses == results, "calls and results do not match"
