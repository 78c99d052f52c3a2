"""A completion request as the JSON of ``/chat/completions``."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from sessions_app.domain.prompt import (
    AUTO,
    CompletionRequest,
    PromptMessage,
    ToolChoice,
    ToolSpec,
)

# The only place that refuses ``max_tokens`` for its newer models; servers that
# speak its dialect know no other name.
_NEW_LIMIT_NAME_HOST = "api.openai.com"


def request_body(
    request: CompletionRequest, *, base_url: str = "", ask_usage: bool = True
) -> bytes:
    """The encoded body; ``ask_usage`` asks a stream to report its token counts."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(each) for each in request.messages if _is_sent(each)],
        "stream": request.is_streaming,
    }
    if request.is_streaming and ask_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        if request.tool_choice != AUTO:
            body["tool_choice"] = _choice(request.tool_choice)
    if request.max_output_tokens is not None:
        is_new = urlsplit(base_url).hostname == _NEW_LIMIT_NAME_HOST
        name = "max_completion_tokens" if is_new else "max_tokens"
        body[name] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    return msgspec.json.encode(body)


def _is_sent(message: PromptMessage) -> bool:
    """Empty text is left out: strict providers refuse it."""
    return bool(message.content or message.tool_calls or message.role == "tool")


def _message(message: PromptMessage) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "tool":
        found["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        found["content"] = message.content or None
        found["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": msgspec.json.encode(call.arguments).decode(),
                },
            }
            for call in message.tool_calls
        ]
    return found


def _choice(choice: ToolChoice) -> Any:
    if choice.mode == "tool":
        return {"type": "function", "function": {"name": choice.name}}
    return choice.mode


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    }
