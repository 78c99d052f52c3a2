"""Context windows: how much a model can be told, and what to leave out beyond that."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import lru_cache

from sessions_app.domain.budget import message_tokens, tokens_at_most
from sessions_app.domain.prompt import PromptMessage, ToolSpec

# Tokens, compared on 2026-12-01 with public tables of models and not with each
# provider's own page: where sources differ, the smaller figure, as too much is refused
# and too little only forgets earlier. What an account knows better goes into its
# ``context_tokens``, as does what a local server was started with.
WINDOWS: tuple[tuple[str, int], ...] = (
    ("gpt-3.5-turbo*", 16_385),
    ("gpt-4", 8_192),
    ("gpt-4-turbo*", 128_000),
    ("gpt-4o*", 128_000),
    ("gpt-4.1*", 1_047_576),
    ("gpt-5*", 272_000),
    ("o1*", 128_000),
    ("o3*", 200_000),
    ("o4-mini*", 200_000),
    ("claude-*", 200_000),
    ("gemini-*", 1_048_576),
    ("mistral-large*", 128_000),
    ("deepseek-*", 64_000),
)
UNKNOWN_WINDOW = 32_768
DEFAULT_REPLY = 4_096
LARGEST_SHARE_OF_REPLY = 4
"""A reply of unknown length is left at most this fraction of the window."""


@lru_cache(maxsize=1024)
def window_of(model: str) -> int:
    """The window of a model by its name, in tokens; what is before a slash is not."""
    name = model.rpartition("/")[2]
    known = [(len(glob), size) for glob, size in WINDOWS if fnmatchcase(name, glob)]
    return max(known)[1] if known else UNKNOWN_WINDOW


def room_for_prompt(
    window: int, max_output_tokens: int | None, tools: Sequence[ToolSpec] = ()
) -> int:
    """What is left of a window for messages, beside the reply and the tools."""
    reply = max_output_tokens or DEFAULT_REPLY
    reply = min(reply, window // LARGEST_SHARE_OF_REPLY)
    return window - reply - tokens_at_most((), tools)


def fitting(
    messages: Sequence[PromptMessage], room: int
) -> tuple[Sequence[PromptMessage], Sequence[PromptMessage]]:
    """The messages that fit, and the ones left out, oldest turns first.

    A turn goes as a whole, its tool calls with their results. The system prompt and
    the last question with all that follows it always stay, even if they do not fit.
    """
    sizes = [message_tokens(message) for message in messages]
    total = sum(sizes)
    if total <= room:
        return messages, ()
    starts = [i for i, message in enumerate(messages) if message.role == "user"]
    first = starts[0] if starts else len(messages)
    end = first
    for start in starts[1:]:
        if total <= room:
            break
        total -= sum(sizes[end:start])
        end = start
    return [*messages[:first], *messages[end:]], messages[first:end]
