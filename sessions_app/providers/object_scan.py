"""Whether a text that comes in fragments is a whole JSON object by now."""

from __future__ import annotations

import re

# A backslash takes the next character with it, unless that is still to come.
_TOKEN = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)
_DEPTH = {"{": 1, "[": 1, "}": -1, "]": -1}


class ObjectScan:
    """Feed fragments; each is looked at once, where parsing anew would take n².

    ``is_balanced`` says that the text ended its outermost brackets and nothing but
    white space follows. Whether it is valid is not asked.
    """

    def __init__(self) -> None:
        self.is_balanced = False
        self._depth = 0
        self._is_string = False
        self._is_escaped = False
        self._has_ended = False

    def feed(self, text: str) -> None:
        """Look at the next fragment."""
        start = 0
        if self._is_escaped and text:
            start, self._is_escaped = 1, False
        if self._has_ended:
            self.is_balanced = self.is_balanced and not text.strip()
            return
        for match in _TOKEN.finditer(text, start):
            token = match[0]
            if token[0] == "\\":
                self._is_escaped = len(token) == 1
            elif token == '"':
                self._is_string = not self._is_string
            elif not self._is_string:
                self._depth += _DEPTH[token]
                if self._depth <= 0:
                    self._has_ended = True
                    self.is_balanced = not text[match.end() :].strip()
                    return
