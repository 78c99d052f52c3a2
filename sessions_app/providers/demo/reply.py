"""What the demo says: Markdown that admits what it is."""

from __future__ import annotations

from collections.abc import Sequence

from sessions_app.domain.prompt import PromptMessage

MAX_ECHO_CHARACTERS = 160
LONG_WORDS = 600

_HONEST = (
    "I am the built-in **demo**, not a language model: nothing thinks here, and I "
    "repeat what you wrote."
)
_OPENINGS = (
    ("## Hello from the demo", "Your message arrived and streams back word by word."),
    ("## The demo again", "Every word of this travels the way a model's words would."),
    ("## Still the demo", "Reload the page in the middle: the rest will catch up."),
)
_LIST = """\
- `/slow` waits three seconds before the first word
- `/fail-early` and `/fail-late` show what an error looks like
- `/tool` asks for a tool, `/tool name` for that one; `/long` writes 600 words"""
_CODE = """\
```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```"""
_TABLE = """\
| part | state |
|---|---|
| streaming | works |
| model | none yet |"""
_BLOCKS = ((_LIST, _CODE), (_TABLE, _LIST), (_CODE, _TABLE))
_HINT = "Connect a provider in the dashboard to get real answers."
_FILLER = (
    "This paragraph exists to be long, so that you can watch a reply grow.",
    "Scroll up while it does: the page should not pull you back down.",
    "Stop it half-way, and what was written stays.",
    "Open the same conversation in a second window, and both show the same words.",
    "None of it means anything, because no model wrote it.",
)


def ordinary_reply(messages: Sequence[PromptMessage]) -> str:
    """A short reply that echoes the last question and varies from turn to turn."""
    turn = max(0, sum(message.role == "user" for message in messages) - 1)
    heading, opening = _OPENINGS[turn % len(_OPENINGS)]
    first, second = _BLOCKS[turn % len(_BLOCKS)]
    blocks = (heading, opening, _echo(messages), _HONEST, first, second, _HINT)
    return "\n\n".join(block for block in blocks if block)


def long_reply(messages: Sequence[PromptMessage]) -> str:
    """About 600 words in paragraphs."""
    blocks = ["## A long reply", _echo(messages), _HONEST]
    count = sum(len(block.split()) for block in blocks)
    number = 0
    while count < LONG_WORDS:
        sentences = [_FILLER[(number + step) % len(_FILLER)] for step in range(3)]
        blocks.append(" ".join(sentences))
        count += len(blocks[-1].split())
        number += 1
    return "\n\n".join(block for block in blocks if block)


def tool_reply(results: Sequence[PromptMessage]) -> str:
    """What the tools answered."""
    quoted = "\n\n".join(f"```\n{message.content}\n```" for message in results)
    return f"## The tool answered\n\n{quoted}\n\n{_HONEST}"


def no_tool_reply() -> str:
    """The answer to ``/tool`` where none is offered."""
    return f"## No tool\n\nNo tool is offered to me in this chat.\n\n{_HONEST}"


def last_question(messages: Sequence[PromptMessage]) -> str:
    """The last paragraph of the newest user message, or an empty string.

    Questions whose turns failed stand before it in the same message: they are over,
    and what they asked to be shown is not asked for again.
    """
    texts = (
        message.content for message in reversed(messages) if message.role == "user"
    )
    return next(texts, "").strip().rpartition("\n\n")[2]


def last_tool_results(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """The tool results at the very end of the prompt."""
    found: list[PromptMessage] = []
    for message in reversed(messages):
        if message.role != "tool":
            break
        found.insert(0, message)
    return found


def _echo(messages: Sequence[PromptMessage]) -> str:
    words = " ".join(last_question(messages).split())
    if len(words) > MAX_ECHO_CHARACTERS:
        words = words[:MAX_ECHO_CHARACTERS] + "…"
    return f"> {words}" if words else ""
