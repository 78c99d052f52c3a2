"""A completion request as one prompt: such a model knows neither roles nor tools."""

from __future__ import annotations

import msgspec

from sessions_app.domain.prompt import CompletionRequest, PromptMessage

_SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Result"}


def request_body(request: CompletionRequest) -> bytes:
    """The encoded body; a stream is always asked for, as its end is plain."""
    return msgspec.json.encode({"prompt": prompt_text(request), "stream": True})


def prompt_text(request: CompletionRequest) -> str:
    """A lone message as it is, a conversation with the names of its speakers."""
    said = [message for message in request.messages if message.content]
    if len(said) == 1:
        return said[0].content
    return "\n\n".join([*map(_paragraph, said), "Assistant:"])


def _paragraph(message: PromptMessage) -> str:
    if message.role == "system":
        return message.content
    return f"{_SPEAKERS[message.role]}: {message.content}"
