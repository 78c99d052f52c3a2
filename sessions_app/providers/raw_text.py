"""Bytes of raw text to parts, with no I/O."""

from __future__ import annotations

import codecs

from sessions_app.domain.errors import BadResponse, StreamTruncated
from sessions_app.domain.parts import FinishPart, Part, StopReason, TextPart


class TextStream:
    """Feed reads, get parts; then ``end()`` once, when the body ended whole."""

    error: None = None
    """No text is wrong; a stream of another form may have one."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._has_text = False

    def feed(self, raw: bytes) -> list[Part]:
        """The text that these bytes complete; a character cut by a read waits."""
        text = self._decoder.decode(raw).replace("\0", "")
        if not text:
            return []
        self._has_text = True
        return [TextPart(text)]

    def end(self) -> list[Part]:
        """The finish; raises if the text ended in mid-character or never began."""
        if self._decoder.getstate()[0]:
            raise StreamTruncated(diagnosis="the text ends within a character")
        if not self._has_text:
            raise BadResponse(diagnosis="the body is empty")
        # Raw text does not say why it ended.
        return [FinishPart(StopReason.UNKNOWN)]
