"""Reasoning that a model writes into its text, between ``<think>`` tags."""

from __future__ import annotations

from sessions_app.domain.parts import Part, ReasoningPart, TextPart

OPEN = "<think>"
CLOSE = "</think>"
MAX_SPACE = 65_536
"""What is held of white space before the first word; a model may send it for ever."""

# A tag that is quoted is spoken about, not meant.
_QUOTES = ("`", '"', "'")


class ThinkFilter:
    """Split text into what is shown and what is hidden, as it comes.

    The end of a fragment that may begin a tag is held back until the next one
    shows what it is. So is white space before the first word: between blocks it is
    dropped, and it is no reply by itself.
    """

    def __init__(self) -> None:
        self._held = ""  # of what may become a tag
        self._space: list[str] = []  # before the first word
        self._space_length = 0
        self._is_inside = False
        self._strip_next = False
        self._previous = ""  # the last character shown

    def feed(self, text: str) -> list[Part]:
        """The parts of one fragment, which is not empty."""
        if (
            "<" not in text
            and not self._held
            and not self._space
            and not self._is_inside
            and (self._previous or not (self._strip_next or text.isspace()))
        ):
            self._previous = text[-1]
            return [TextPart(text)]
        return self._split(self._held + text)

    def flush(self) -> list[Part]:
        """What was held back, at the end of the reply."""
        held, self._held = self._held, ""
        parts: list[Part] = []
        self._emit(held, parts)
        return parts

    def _split(self, text: str) -> list[Part]:
        parts: list[Part] = []
        self._held = ""
        start = 0  # of what is not yet given out
        scan = 0
        while True:
            tag = CLOSE if self._is_inside else OPEN
            at = text.find("<", scan)
            if at < 0:
                break
            if text.startswith(tag, at) and not self._is_quoted(text, at):
                self._emit(text[start:at], parts)
                self._strip_next = self._is_inside and not self._previous
                self._is_inside = not self._is_inside
                start = scan = at + len(tag)
            elif tag.startswith(text[at:]):
                self._held = text[at:]
                break
            else:
                scan = at + 1
        rest = text[start : len(text) - len(self._held)]
        if not self._is_inside and not self._previous and not rest.strip():
            self._hold_space(rest)
        else:
            self._emit(rest, parts)
        return parts

    def _is_quoted(self, text: str, at: int) -> bool:
        before = text[at - 1] if at else self._previous
        return not self._is_inside and before in _QUOTES

    def _hold_space(self, space: str) -> None:
        if space and self._space_length < MAX_SPACE:
            self._space.append(space)
            self._space_length += len(space)

    def _emit(self, text: str, parts: list[Part]) -> None:
        if self._is_inside:
            if text:
                parts.append(ReasoningPart(text))
            return
        if self._space:
            text = "".join(self._space) + text
            self._space.clear()
            self._space_length = 0
        if self._strip_next:
            text = text.lstrip()
        if not text or (not self._previous and text.isspace()):
            return
        self._strip_next = False
        self._previous = text[-1]
        parts.append(TextPart(text))
