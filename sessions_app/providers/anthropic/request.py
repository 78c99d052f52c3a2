"""A completion request as the JSON of ``/messages``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from sessions_app.domain.prompt import (
    AUTO,
    CompletionRequest,
    PromptMessage,
    ToolChoice,
    ToolSpec,
)

# The field is required; a reply without a limit of its own gets this one.
DEFAULT_MAX_TOKENS = 4096
MAX_TEMPERATURE = 1.0

Block = dict[str, Any]


def request_body(request: CompletionRequest) -> bytes:
    """The encoded body."""
    system = [m.content for m in request.messages if m.role == "system"]
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_output_tokens or DEFAULT_MAX_TOKENS,
        "messages": _conversation(request.messages),
        "stream": request.is_streaming,
    }
    if system:
        body["system"] = "\n\n".join(system)
    if request.temperature is not None:
        body["temperature"] = min(request.temperature, MAX_TEMPERATURE)
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice != AUTO:
            body["tool_choice"] = _choice(request.tool_choice)
    elif withheld := _tools_of(request.messages):
        # Blocks of tools are refused where no tool is declared, also in the past.
        body["tools"] = [_tool(tool) for tool in withheld]
        body["tool_choice"] = {"type": "none"}
    return msgspec.json.encode(body)


def _conversation(messages: Sequence[PromptMessage]) -> list[dict[str, Any]]:
    """Turns that alternate, with no empty text; results open their user's turn."""
    found: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if not blocks or (not found and role == "assistant"):
            continue
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})
    return found


def _blocks(message: PromptMessage) -> list[Block]:
    if message.role == "tool":
        result: Block = {"type": "tool_result", "tool_use_id": message.tool_call_id}
        if message.content:
            result["content"] = message.content
        return [result]
    blocks: list[Block] = [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.media_type,
                "data": image.data,
            },
        }
        for image in message.images
    ]
    if message.content.strip():
        blocks.append({"type": "text", "text": message.content})
    blocks += [
        {
            "type": "tool_use",
            "id": call.call_id,
            "name": call.name,
            "input": call.arguments,
        }
        for call in message.tool_calls
    ]
    return blocks


def _tools_of(messages: Iterable[PromptMessage]) -> list[ToolSpec]:
    names = dict.fromkeys(
        call.name for message in messages for call in message.tool_calls
    )
    return [ToolSpec(name, "", {"type": "object"}) for name in names]


def _tool(tool: ToolSpec) -> Block:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": {"type": "object", **tool.input_schema},
    }


def _choice(choice: ToolChoice) -> Block:
    if choice.mode == "tool":
        return {"type": "tool", "name": choice.name}
    return {"type": "any" if choice.mode == "required" else choice.mode}
