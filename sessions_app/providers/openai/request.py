"""A completion request as the JSON of ``/chat/completions``."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from sessions_app.domain.prompt import (
    AUTO,
    CompletionRequest,
    PromptMessage,
    ToolChoice,
    ToolSpec,
)
from sessions_app.providers.openai.services import UNKNOWN, Service


def request_body(
    request: CompletionRequest, *, service: Service = UNKNOWN, ask_usage: bool = True
) -> bytes:
    """The encoded body; ``ask_usage`` asks a stream to report its token counts."""
    messages = [each for each in request.messages if _is_sent(each)]
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_message(each, service.call_id_length) for each in messages],
        "stream": request.is_streaming,
    }
    if request.is_streaming and ask_usage:
        body["stream_options"] = {"include_usage": True}
    body.update(_tool_fields(request, service))
    if request.max_output_tokens is not None:
        body[service.limit_name] = request.max_output_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    for name in service.refuses:
        body.pop(name, None)
    return msgspec.json.encode(body)


def _tool_fields(request: CompletionRequest, service: Service) -> dict[str, Any]:
    """The tools, and the choice among them as the service can be told of it."""
    tools, choice = request.tools, request.tool_choice
    is_refused = "tool_choice" in service.refuses
    if choice.mode == "tool" and (is_refused or not service.names_tool):
        tools = [tool for tool in tools if tool.name == choice.name]
        choice = ToolChoice("required")
    if not tools or (choice.mode == "none" and is_refused):
        return {}
    fields: dict[str, Any] = {"tools": [_tool(tool) for tool in tools]}
    if choice != AUTO:
        fields["tool_choice"] = _choice(choice)
    return fields


def _is_sent(message: PromptMessage) -> bool:
    """Empty text is left out: strict providers refuse it."""
    return bool(
        message.content
        or message.images
        or message.tool_calls
        or message.role == "tool"
    )


def _message(message: PromptMessage, id_length: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        found["content"] = _parts(message)
    if message.role == "tool":
        found["tool_call_id"] = _call_id(message.tool_call_id, id_length)
    if message.tool_calls:
        found["content"] = message.content or None
        found["tool_calls"] = [
            {
                "id": _call_id(call.call_id, id_length),
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": msgspec.json.encode(call.arguments).decode(),
                },
            }
            for call in message.tool_calls
        ]
    return found


def _call_id(call_id: str, length: int) -> str:
    """The id as it is, or one of that length: always the same for the same id."""
    is_fit = len(call_id) == length and call_id.isascii() and call_id.isalnum()
    if not length or is_fit:
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:length]


def _parts(message: PromptMessage) -> list[dict[str, Any]]:
    """Text and images, these as data URLs: a provider need not reach Lantern."""
    parts: list[dict[str, Any]] = []
    if message.content:
        parts.append({"type": "text", "text": message.content})
    for image in message.images:
        url = f"data:{image.media_type};base64,{image.data}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


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
