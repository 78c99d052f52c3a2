"""From stored turns to a prompt that every provider accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sessions_app.domain.outcome import CallStatus, ToolCallRecord
from sessions_app.domain.prompt import PromptImage, PromptMessage, PromptToolCall, Role

LOST_RESULT = "Error: the call was interrupted."


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One utterance of the transcript, in its order; ``turn`` is its turn's ordinal."""

    role: Role
    content: str
    turn: int = 0
    images: tuple[PromptImage, ...] = ()


def build_prompt(
    system_prompt: str,
    messages: Iterable[StoredMessage],
    calls: Mapping[int, Sequence[ToolCallRecord]] | None = None,
) -> list[PromptMessage]:
    """The system prompt and the conversation, roles alternating.

    Empty texts are left out, and messages of one role in a row become one: that is
    how the questions of failed turns stand there, whose replies are void. ``calls``
    are the tool calls of earlier turns by ordinal; those of a turn stand before its
    reply, and without a reply they are left out.
    """
    prompt: list[PromptMessage] = []
    for message in messages:
        if not message.content.strip() and not message.images:
            continue
        if message.role == "assistant" and prompt and calls:
            prompt += rounds_as_messages(calls.get(message.turn, ()), message.turn)
        if prompt and prompt[-1].role == message.role:
            prompt[-1] = _joined(prompt[-1], message)
        elif prompt or message.role == "user":
            said = PromptMessage(message.role, message.content, turn=message.turn)
            prompt.append(replace(said, images=message.images))
    if system_prompt.strip():
        prompt.insert(0, PromptMessage("system", system_prompt))
    return prompt


def _joined(before: PromptMessage, message: StoredMessage) -> PromptMessage:
    texts = [text for text in (before.content, message.content) if text]
    return replace(
        before,
        content="\n\n".join(texts),
        turn=message.turn,
        images=before.images + message.images,
    )


def with_summary(
    messages: Sequence[PromptMessage], summary: str
) -> list[PromptMessage]:
    """The messages, the first question led by a summary of what came before.

    It stands with the user's words and not in the system prompt: it was made of what
    users said, and may order the model no more than they may.
    """
    told = list(messages)
    for index, message in enumerate(told):
        if message.role == "user" and summary:
            content = f"[Earlier in this conversation: {summary}]\n\n{message.content}"
            told[index] = replace(message, content=content)
            break
    return told


def rounds_as_messages(
    calls: Sequence[ToolCallRecord], turn: int
) -> list[PromptMessage]:
    """The calls of an ended turn, round by round, each with its results after it.

    Their ids are made anew: providers want them unique over the conversation, and
    models repeat them from turn to turn. A call that never came to a result gets an
    error for one.
    """
    messages: list[PromptMessage] = []
    for round_no in sorted({call.round_no for call in calls}):
        of_round = [call for call in calls if call.round_no == round_no]
        ids = [f"call_{turn}_{round_no}_{call.position}" for call in of_round]
        asked = tuple(
            PromptToolCall(call_id, call.name, call.arguments)
            for call_id, call in zip(ids, of_round, strict=True)
        )
        messages.append(PromptMessage("assistant", tool_calls=asked, turn=turn))
        messages += [
            PromptMessage("tool", result_text(call), tool_call_id=call_id, turn=turn)
            for call_id, call in zip(ids, of_round, strict=True)
        ]
    return messages


def result_text(call: ToolCallRecord) -> str:
    """What the model is told of a call."""
    if call.status == CallStatus.COMPLETED:
        return call.result
    if call.status == CallStatus.FAILED:
        return f"Error: {call.error}"
    return LOST_RESULT
