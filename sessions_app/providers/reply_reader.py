"""Bytes of an answer to events or a document: no I/O; families fill in the rest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sessions_app.domain.errors import BadResponse, ProviderError, StreamTruncated
from sessions_app.domain.parts import Part, RawPart, TextPart, ToolCallReady
from sessions_app.providers.raw import raw_message
from sessions_app.providers.tool_calls import ToolCallAssembler
from sessions_app.wire.sse_decoder import BOM, ServerSentEvent, SSEDecoder

MAX_BODY_BYTES = 16 * 1024 * 1024
# No line of an event stream begins with one of these, every JSON document does.
_JSON_STARTS = b'{["'


class ReplyReader:
    """Feed reads of one answer, get parts; then ``end()`` once at the end of it.

    ``is_done`` tells that the reply is over, though the socket may stay open. With
    it ``error`` says what went wrong, if anything did: it is kept and not raised,
    so that the parts of the same read are given out before it. ``with_raw`` gives the
    provider's own messages, too.
    """

    def __init__(
        self,
        api_key: str = "",
        calls: ToolCallAssembler | None = None,
        *,
        with_raw: bool = False,
    ) -> None:
        self._api_key = api_key
        self._calls = calls or ToolCallAssembler()
        self._with_raw = with_raw
        self._end_message = b""  # the one that says why the reply ended
        self.is_done = False
        self.error: ProviderError | None = None
        # Until the first byte tells what this is; grown in place, as white space may
        # come in many small reads.
        self._head: bytearray | None = bytearray()
        self._body: bytearray | None = None  # of a JSON document
        self._decoder = SSEDecoder()
        self._has_text = False
        self._has_reasoning = False

    def feed(self, raw: bytes) -> list[Part]:
        """The parts that these bytes complete."""
        parts: list[Part] = []
        try:
            if self._head is not None:
                raw = self._sniff(self._head, raw)
            if self._body is not None:
                self._body += raw
                if len(self._body) > MAX_BODY_BYTES:
                    raise BadResponse(diagnosis=f"more than {MAX_BODY_BYTES} bytes")
                return parts
            take = self._take_raw if self._with_raw else self._take
            for event in self._decoder.feed(raw):
                take(event, parts)
                if self.is_done:
                    break
        except ProviderError as error:
            self._fail(error)
        return parts

    def end(self) -> list[Part]:
        """The last parts at the end of the body; ``error`` if it came too early."""
        parts: list[Part] = []
        if self.is_done:
            return parts
        try:
            if self._body is not None:
                body = bytes(self._body)
                self._calls.message = body if self._with_raw else b""
                self._take_document(body, parts)
                self._tell_origin(body, parts, 0)
            else:
                self._take_rest(parts)
        except ProviderError as error:
            self._fail(error)
        self.is_done = True
        return parts

    def _take_raw(self, event: ServerSentEvent, parts: list[Part]) -> None:
        """As ``_take``, and the event itself before its text if that was asked for."""
        self._calls.message = event.data if self._with_raw else b""
        before = len(parts)
        self._take(event, parts)
        self._tell_origin(event.data, parts, before)

    def _tell_origin(self, message: bytes, parts: list[Part], place: int) -> None:
        if self._with_raw and any(isinstance(part, TextPart) for part in parts[place:]):
            parts.insert(place, RawPart(raw_message(message, self._api_key)))

    def _raw(self, message: bytes) -> bytes:
        """The message as it may be shown, if anybody wants to see it."""
        return raw_message(message, self._api_key) if self._with_raw else b""

    def _ready_calls(self, *, is_cut: bool) -> list[ToolCallReady]:
        calls = self._calls.ready(is_cut=is_cut)
        if not self._with_raw:
            return calls
        return [replace(call, raw=self._raw(call.raw)) for call in calls]

    def _take(self, event: ServerSentEvent, parts: list[Part]) -> None:
        """Add the parts of one event."""
        raise NotImplementedError

    def _take_document(self, body: bytes, parts: list[Part]) -> None:
        """Add the parts of a whole answer, asked for or not."""
        raise NotImplementedError

    def _take_rest(self, parts: list[Part]) -> None:
        """Add what the end of the body left open; raise if it came too early."""
        raise NotImplementedError

    def _require_meaning(self, word: str, tool_words: Collection[str]) -> None:
        """An empty reply stands only if the provider says why it is empty."""
        if self._has_reasoning:
            raise StreamTruncated(diagnosis="reasoning, and no reply after it")
        if not word or word in tool_words:
            raise BadResponse(diagnosis=f"nothing in the reply, ended by {word!r:.40}")

    def _fail(self, error: ProviderError) -> None:
        self.error = error
        self.is_done = True

    def _sniff(self, head: bytearray, raw: bytes) -> bytes:
        """Judge by the first byte what follows: content types are often wrong."""
        if len(head) < len(BOM):  # which may be cut
            raw = bytes(head) + raw
            head.clear()
        text = (raw if head else raw.removeprefix(BOM)).lstrip()
        if not text or (not head and BOM.startswith(raw)):
            head += raw
            if len(head) > MAX_BODY_BYTES:
                raise BadResponse(diagnosis="nothing but white space")
            return b""
        self._head = None
        raw = bytes(head) + raw
        if text[:1] == b"<":
            raise BadResponse(diagnosis="the answer is a page of markup")
        if text[0] in _JSON_STARTS:
            self._body = bytearray()
            return text
        return raw
