"""A completion request as one prompt, for models that know neither roles nor tools."""

from __future__ import annotations

from sessions_app.domain.errors import ProviderRefused
from sessions_app.domain.prompt import CompletionRequest, PromptMessage

_SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Result"}


def prompt_text(request: CompletionRequest) -> str:
    """A lone message as it is, a conversation with the names of its speakers."""
    if any(message.images for message in request.messages):
        raise ProviderRefused("This model takes no images.")
    said = [message for message in request.messages if message.content]
    if len(said) == 1:
        return said[0].content
    return "\n\n".join([*map(_paragraph, said), "Assistant:"])


def _paragraph(message: PromptMessage) -> str:
    if message.role == "system":
        return message.content
    return f"{_SPEAKERS[message.role]}: {message.content}"
