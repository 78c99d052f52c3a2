"""The adapter of the kind ``demo``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from sessions_app.domain.errors import ProviderFailed
from sessions_app.domain.ids import CALL, new_id
from sessions_app.domain.parts import (
    FinishPart,
    Part,
    StopReason,
    TextPart,
    ToolCallReady,
    UsagePart,
)
from sessions_app.domain.prompt import CompletionRequest
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.demo.arguments import arguments_for
from sessions_app.providers.demo.reply import (
    last_question,
    last_tool_results,
    long_reply,
    no_tool_reply,
    ordinary_reply,
    tool_reply,
)

WORDS_PER_S = 25.0
SLOW_S = 3.0
WORDS_BEFORE_LATE_FAILURE = 5
MODEL = "demo"

_WORD = re.compile(r"\s*\S+\s*")


class DemoAdapter:
    """Answers at a reader's pace, and shows on request what can go wrong.

    A user message with the word ``/slow``, ``/fail-early``, ``/fail-late``,
    ``/tool`` or ``/long`` gets what it says.
    """

    def __init__(
        self, words_per_s: float = WORDS_PER_S, slow_s: float = SLOW_S
    ) -> None:
        self._words_per_s = words_per_s
        self._slow_s = slow_s

    async def stream(
        self, config: ProviderConfig, request: CompletionRequest
    ) -> AsyncGenerator[list[Part], None]:
        """See ``ProviderAdapter.stream``; counts are words, one a token."""
        commands = set(last_question(request.messages).split())
        if "/fail-early" in commands:
            raise ProviderFailed(diagnosis="asked for with /fail-early")
        if "/slow" in commands:
            await asyncio.sleep(self._slow_s)
        call = _tool_call(request, commands)
        if call is not None:
            end = FinishPart(StopReason.STOP, is_tool_calls=True, model=MODEL)
            yield [call, _usage(request, 1), end]
            return
        words = _WORD.findall(_reply(request, commands))
        limit = request.max_output_tokens
        is_cut = limit is not None and len(words) > limit
        words = words[:limit]
        if "/fail-late" in commands:
            words = words[:WORDS_BEFORE_LATE_FAILURE]
        if request.is_streaming:
            async for batch in self._paced(words):
                yield batch
        if "/fail-late" in commands:
            raise ProviderFailed(diagnosis="asked for with /fail-late")
        reason = StopReason.LENGTH if is_cut else StopReason.STOP
        rest: list[Part] = []
        if not request.is_streaming and words:
            rest.append(TextPart("".join(words)))
        yield [*rest, _usage(request, len(words)), FinishPart(reason, model=MODEL)]

    async def _paced(self, words: list[str]) -> AsyncGenerator[list[Part], None]:
        for number, word in enumerate(words):
            if number:
                await asyncio.sleep(1 / self._words_per_s)
            yield [TextPart(word)]


def _reply(request: CompletionRequest, commands: set[str]) -> str:
    results = last_tool_results(request.messages)
    if results:
        return tool_reply(results)
    if "/tool" in commands:
        return no_tool_reply()
    if "/long" in commands:
        return long_reply(request.messages)
    return ordinary_reply(request.messages)


def _tool_call(request: CompletionRequest, commands: set[str]) -> ToolCallReady | None:
    if "/tool" not in commands or not request.tools:
        return None
    if last_tool_results(request.messages):
        return None
    _, _, topic = last_question(request.messages).partition("/tool")
    named = {tool.name: tool for tool in request.tools}
    words = topic.split(maxsplit=1)
    tool = request.tools[0]
    if words and words[0] in named:
        tool, topic = named[words[0]], "".join(words[1:])
    arguments = arguments_for(tool.input_schema, topic.strip() or "demo")
    return ToolCallReady(new_id(CALL), tool.name, arguments)


def _usage(request: CompletionRequest, words_out: int) -> UsagePart:
    words_in = sum(len(message.content.split()) for message in request.messages)
    return UsagePart(tokens_in=max(1, words_in), tokens_out=words_out)
