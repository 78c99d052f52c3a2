"""Bytes of an answer to parts, with no I/O."""

from __future__ import annotations

import msgspec

from sessions_app.domain.errors import BadResponse, StreamTruncated
from sessions_app.domain.parts import (
    FinishPart,
    Part,
    ReasoningPart,
    StopReason,
    TextPart,
    UsagePart,
)
from sessions_app.providers.lenient_json import UNREADABLE, decode_leniently
from sessions_app.providers.openai.chunk import (
    Choice,
    Chunk,
    chunk_from,
    decode_chunk,
)
from sessions_app.providers.openai.finish import (
    CUT_REASONS,
    FAILURE_WORDS,
    TOOL_WORDS,
    stop_reason,
)
from sessions_app.providers.openai.think import ThinkFilter
from sessions_app.providers.openai.usage import usage_part, usage_within
from sessions_app.providers.reply_errors import error_for_word, error_in_reply
from sessions_app.providers.reply_reader import ReplyReader
from sessions_app.providers.tool_calls import ToolCallAssembler
from sessions_app.wire.sse_decoder import ServerSentEvent

DONE = b"[DONE]"


class ReplyStream(ReplyReader):
    """The answers of ``/chat/completions``; see ``ReplyReader``.

    ``usage_in`` is the object of a chunk that may hold ``usage`` in its place.
    """

    def __init__(
        self,
        api_key: str = "",
        calls: ToolCallAssembler | None = None,
        *,
        with_raw: bool = False,
        usage_in: str = "",
    ) -> None:
        super().__init__(api_key, calls, with_raw=with_raw)
        self._usage_in = usage_in
        self._think = ThinkFilter()
        self._usage: UsagePart | None = None
        self._model = ""
        self._finish_word = ""
        self._has_chunks = False

    def _take(self, event: ServerSentEvent, parts: list[Part]) -> None:
        raw = event.data
        if len(raw) < 16 and raw.strip() in (DONE, b""):
            if raw.strip():
                self._finish(parts)
            return
        try:
            if event.event == "error":
                value = decode_leniently(raw)
                inner = value.get("error") if isinstance(value, dict) else None
                raise error_in_reply(inner or value, self._api_key)
            chunk = decode_chunk(raw)
        except ValueError as error:
            raise BadResponse(diagnosis=f"an event is not JSON: {error}") from error
        self._take_chunk(chunk, parts)

    def _take_chunk(self, chunk: Chunk, parts: list[Part]) -> None:
        self._has_chunks = True
        if chunk.error:
            raise error_in_reply(chunk.error, self._api_key)
        if chunk.model and not self._model:
            self._model = chunk.model
        for choice in chunk.choices or ():
            if not choice.index:
                self._take_choice(choice, parts)
        counts = chunk.usage
        if not counts and self._usage_in:
            counts = usage_within(getattr(chunk, self._usage_in))
        if counts:
            usage = usage_part(counts)
            if usage is not None and usage != self._usage:
                self._usage = usage
                parts.append(usage)

    def _take_choice(self, choice: Choice, parts: list[Part]) -> None:
        delta = choice.delta
        if delta is not None:
            reasoning = delta.reasoning_content or delta.reasoning
            if reasoning:
                self._add(ReasoningPart(reasoning.replace("\0", "")), parts)
            if delta.content:
                self._take_text(delta.content, parts)
            if delta.refusal:
                self._take_text(delta.refusal, parts)
                self._finish_word = "refusal"
            if delta.tool_calls:
                self._calls.add(delta.tool_calls)
        word = choice.finish_reason
        if word and not self._finish_word:
            if word in FAILURE_WORDS:
                raise error_for_word(word)
            self._finish_word = word
            self._end_message = self._calls.message

    def _take_text(self, text: str, parts: list[Part]) -> None:
        if "\0" in text:
            text = text.replace("\0", "")
        if text:
            for part in self._think.feed(text):
                self._add(part, parts)

    def _add(self, part: Part, parts: list[Part]) -> None:
        if isinstance(part, TextPart):
            self._has_text = True
        elif isinstance(part, ReasoningPart):
            if not part.text:
                return
            self._has_reasoning = True
        parts.append(part)

    def _take_rest(self, parts: list[Part]) -> None:
        """The event that the end of the body left open counts if it is whole."""
        for event in self._decoder.flush():
            try:
                msgspec.json.decode(event.data)
            except UNREADABLE:
                if event.data.strip() != DONE:
                    continue
            self._take_raw(event, parts)
        if self.is_done:
            return
        if self._finish_word:
            self._finish(parts)
        elif self._has_chunks:
            raise StreamTruncated(diagnosis="no finish_reason and no [DONE]")
        else:
            raise BadResponse(diagnosis="the body holds no event")

    def _take_document(self, body: bytes, parts: list[Part]) -> None:
        try:
            chunk = chunk_from(decode_leniently(body), "message")
        except ValueError as error:
            raise BadResponse(diagnosis=f"the body is not JSON: {error}") from error
        self._take_chunk(chunk, parts)
        self._finish(parts)

    def _finish(self, parts: list[Part]) -> None:
        for part in self._think.flush():
            self._add(part, parts)
        word = self._finish_word
        reason = stop_reason(word)
        calls = self._ready_calls(is_cut=reason in CUT_REASONS)
        if not self._has_text and not calls and reason is not StopReason.CONTENT_FILTER:
            self._require_meaning(word, TOOL_WORDS)
        parts.extend(calls)
        raw = self._raw(self._end_message)
        parts.append(FinishPart(reason, bool(calls), self._model, raw))
        self.is_done = True
