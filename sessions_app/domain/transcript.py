"""From stored messages to a prompt that every provider accepts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessions_app.domain.prompt import PromptMessage, Role


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One utterance of the transcript, in its order."""

    role: Role
    content: str


def build_prompt(
    system_prompt: str, messages: Iterable[StoredMessage]
) -> list[PromptMessage]:
    """The system prompt and the conversation, roles alternating.

    Empty texts are left out, and messages of one role in a row become one: that is
    how the questions of failed turns stand there, whose replies are void.
    """
    prompt: list[PromptMessage] = []
    for message in messages:
        if not message.content.strip():
            continue
        if prompt and prompt[-1].role == message.role:
            joined = f"{prompt[-1].content}\n\n{message.content}"
            prompt[-1] = PromptMessage(message.role, joined)
        elif prompt or message.role == "user":
            prompt.append(PromptMessage(message.role, message.content))
    if system_prompt.strip():
        prompt.insert(0, PromptMessage("system", system_prompt))
    return prompt
