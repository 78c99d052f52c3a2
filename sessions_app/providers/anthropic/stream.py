"""Bytes of a message to parts, with no I/O."""

from __future__ import annotations

from typing import Any

from sessions_app.domain.errors import BadResponse, StreamTruncated
from sessions_app.domain.parts import (
    FinishPart,
    Part,
    ReasoningPart,
    StopReason,
    TextPart,
)
from sessions_app.domain.text import storable
from sessions_app.providers.anthropic.event import Delta, Event, decode_event
from sessions_app.providers.anthropic.finish import CUT_REASONS, TOOL_USE, stop_reason
from sessions_app.providers.anthropic.usage import UsageTally
from sessions_app.providers.lenient_json import decode_leniently
from sessions_app.providers.reply_errors import error_in_reply
from sessions_app.providers.reply_reader import ReplyReader
from sessions_app.providers.tool_calls import ToolCallAssembler
from sessions_app.wire.sse_decoder import ServerSentEvent


class MessageStream(ReplyReader):
    """The answers of ``/messages``; see ``ReplyReader``."""

    def __init__(
        self,
        api_key: str = "",
        calls: ToolCallAssembler | None = None,
        *,
        with_raw: bool = False,
    ) -> None:
        super().__init__(api_key, calls, with_raw=with_raw)
        self._tally = UsageTally()
        self._model = ""
        self._stop_word = ""
        self._has_events = False
        self._has_ended = False  # a message_delta gave the reason

    def _take(self, event: ServerSentEvent, parts: list[Part]) -> None:
        if not event.data.strip():
            return
        try:
            found = decode_event(event.data)
        except ValueError as error:
            raise BadResponse(diagnosis=f"an event is not JSON: {error}") from error
        if event.event == "error" or found.type == "error" or found.error:
            value = found.error or decode_leniently(event.data)
            raise error_in_reply(value, self._api_key)
        self._take_event(found, parts)

    def _take_event(self, event: Event, parts: list[Part]) -> None:
        match event.type:
            case "content_block_delta":
                if event.delta is not None:
                    self._take_delta(event.index, event.delta, parts)
            case "content_block_start":
                self._take_block(event.index, event.content_block or {}, parts)
            case "message_start":
                message = event.message or {}
                self._take_model(message.get("model"))
                self._take_usage(message.get("usage"), parts)
            case "message_delta":
                if event.delta is not None and event.delta.stop_reason:
                    self._stop_word = event.delta.stop_reason
                    self._has_ended = True
                    self._end_message = self._calls.message
                self._take_usage(event.usage, parts)
            case "message_stop":
                self._finish(parts)
            case _:
                return  # ping, content_block_stop, and what is still to come
        self._has_events = True

    def _take_delta(self, index: int, delta: Delta, parts: list[Part]) -> None:
        if delta.text:
            self._add_text(delta.text, parts)
        if delta.thinking:
            self._has_reasoning = True
            parts.append(ReasoningPart(delta.thinking))
        if delta.partial_json:
            function = {"arguments": delta.partial_json}
            self._calls.add([{"index": index, "function": function}])

    def _take_block(self, index: int, block: dict[str, Any], parts: list[Part]) -> None:
        """A block as it begins in a stream, or as it is in a whole answer."""
        match block.get("type"):
            case "text" if isinstance(block.get("text"), str):
                self._add_text(block["text"], parts)
            case "thinking" | "redacted_thinking":
                self._has_reasoning = True
            case "tool_use":
                function = {
                    "name": block.get("name"),
                    # Empty where the fragments are still to come.
                    "arguments": block.get("input") or "",
                }
                entry = {"index": index, "id": block.get("id"), "function": function}
                self._calls.add([entry])

    def _add_text(self, text: str, parts: list[Part]) -> None:
        text = storable(text)
        if text:
            self._has_text = True
            parts.append(TextPart(text))

    def _take_model(self, model: object) -> None:
        if isinstance(model, str) and not self._model:
            self._model = storable(model)

    def _take_usage(self, usage: object, parts: list[Part]) -> None:
        if isinstance(usage, dict):
            part = self._tally.add(usage)
            if part is not None:
                parts.append(part)

    def _take_rest(self, parts: list[Part]) -> None:
        for event in self._decoder.flush():
            try:
                decode_event(event.data)
            except ValueError:
                continue  # cut in the middle
            self._take_raw(event, parts)
        if self.is_done:
            return
        if self._has_ended:
            self._finish(parts)
        elif self._has_events:
            raise StreamTruncated(diagnosis="no stop_reason and no message_stop")
        else:
            raise BadResponse(diagnosis="the body holds no event")

    def _take_document(self, body: bytes, parts: list[Part]) -> None:
        try:
            value = decode_leniently(body)
        except ValueError as error:
            raise BadResponse(diagnosis=f"the body is not JSON: {error}") from error
        message = value if isinstance(value, dict) else {}
        if message.get("error") or message.get("type") == "error":
            raise error_in_reply(message.get("error") or message, self._api_key)
        content = message.get("content")
        if not isinstance(content, list):
            raise BadResponse(diagnosis="the body is no message")
        self._take_model(message.get("model"))
        for index, block in enumerate(content):
            if isinstance(block, dict):
                self._take_block(index, block, parts)
        self._take_usage(message.get("usage"), parts)
        word = message.get("stop_reason")
        self._stop_word = word if isinstance(word, str) else ""
        self._end_message = body
        self._finish(parts)

    def _finish(self, parts: list[Part]) -> None:
        word = self._stop_word
        reason = stop_reason(word)
        calls = self._ready_calls(is_cut=reason in CUT_REASONS)
        if not self._has_text and not calls and reason is not StopReason.CONTENT_FILTER:
            self._require_meaning(word, (TOOL_USE,))
        parts.extend(calls)
        raw = self._raw(self._end_message)
        parts.append(FinishPart(reason, bool(calls), self._model, raw))
        self.is_done = True
