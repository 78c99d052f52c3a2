"""JSON lines to parts, with no I/O."""

from __future__ import annotations

from sessions_app.domain.errors import BadResponse, StreamTruncated
from sessions_app.domain.parts import FinishPart, Part, StopReason, TextPart
from sessions_app.domain.text import storable
from sessions_app.providers.lenient_json import decode_leniently
from sessions_app.wire.sse_decoder import BOM

MAX_LINE_BYTES = 1024 * 1024


class LineStream:
    """Feed reads, get parts; then ``end()`` once, when the command ended well.

    ``path`` leads to the text of a line: keys and list indexes, with dots between.
    Lines where it leads nowhere, or not to text, say something else and are left out.
    """

    def __init__(self, path: str) -> None:
        self.error: BadResponse | None = None
        """Kept and not raised, so that the text before it is given out first."""
        self._path = path.split(".")
        self._rest = bytearray()
        self._is_first = True
        self._has_text = False

    def feed(self, raw: bytes) -> list[Part]:
        """The text of the lines that these bytes complete."""
        parts: list[Part] = []
        # Only new bytes are searched: a long line in small reads stays linear.
        *ends, rest = raw.split(b"\n")
        try:
            for end in ends:
                self._keep(end)
                self._take_line(parts)
            self._keep(rest)
        except BadResponse as error:
            self.error = error
        return parts

    def end(self) -> list[Part]:
        """The text of a last line without its end, and the finish.

        Raises if the output ends within a line, or held no text.
        """
        parts: list[Part] = []
        try:
            self._take_line(parts)
        except BadResponse as error:
            raise StreamTruncated(diagnosis="the output ends within a line") from error
        if not self._has_text:
            path = ".".join(self._path)
            raise BadResponse(diagnosis=f"no line has text at {path:.80}")
        return [*parts, FinishPart(StopReason.UNKNOWN)]

    def _keep(self, raw: bytes) -> None:
        self._rest += raw
        if len(self._rest) > MAX_LINE_BYTES:
            raise BadResponse(diagnosis=f"a line of more than {MAX_LINE_BYTES} bytes")

    def _take_line(self, parts: list[Part]) -> None:
        line = bytes(self._rest)
        self._rest.clear()
        if self._is_first:
            line = line.removeprefix(BOM)
            self._is_first = False
        line = line.strip(b" \t\r\0")
        if not line:
            return
        try:
            value = decode_leniently(line)
        except ValueError as error:
            raise BadResponse(diagnosis=f"a line is not JSON: {error}") from error
        text = _at(value, self._path)
        if isinstance(text, str) and (text := storable(text)):
            self._has_text = True
            parts.append(TextPart(text))


def _at(value: object, path: list[str]) -> object:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdecimal() and len(step) < 10:
            value = value[int(step)] if int(step) < len(value) else None
        else:
            return None
    return value
