"""Where everything stands in a TOML text: tomllib tells values, not lines."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"{3,5}'
    r"|'''[\s\S]*?'{3,5}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")


def lines_of(text: str) -> dict[Path, int]:
    """The line of every table header, key and list item, by its path.

    The text must be one that tomllib accepts. A path holds names and, for tables in
    ``[[…]]`` and items of a list, their index: ``("agent", 0, "route", 1)``.
    """
    return _Walk(text.replace("\r\n", "\n")).lines


class _Walk:
    """One pass over a valid text; it checks nothing again."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text = text
        self._at = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._counts: dict[Path, int] = {}
        self._document()

    def _document(self) -> None:
        table: Path = ()
        while self._next():
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)

    def _header(self, brackets: int) -> Path:
        start = self._at
        self._at += brackets
        names = self._key()
        self._next()
        self._at += brackets
        path: Path = ()
        for number, name in enumerate(names, 1):
            path += (name,)
            if number == len(names) and brackets == 2:
                self._counts[path] = self._counts.get(path, 0) + 1
            if path in self._counts:
                path += (self._counts[path] - 1,)
        self._note(path, start)
        return path

    def _pair(self, table: Path) -> None:
        start = self._at
        path = table + self._key()
        self._at += 1  # the equals sign
        self._note(path, start)
        self._value(path)

    def _key(self) -> Path:
        names: list[str] = []
        while True:
            self._next()
            if match := _BARE_KEY.match(self._text, self._at):
                names.append(match[0])
            else:
                match = _STRING.match(self._text, self._at)
                assert match is not None
                names.extend(tomllib.loads(f"{match[0]} = 0"))
            self._at = match.end()
            if self._next() != ".":
                return tuple(names)
            self._at += 1

    def _value(self, path: Path) -> None:
        first = self._next()
        self._note(path, self._at)
        if first == "[":
            self._list(path)
        elif first == "{":
            self._inline_table(path)
        else:
            match = _STRING.match(self._text, self._at)
            match = match or _SCALAR.match(self._text, self._at)
            assert match is not None
            self._at = match.end()

    def _list(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._next() != "]":
            self._value((*path, index))
            index += 1
            if self._next() == ",":
                self._at += 1
        self._at += 1

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._next() != "}":
            self._pair(path)
            if self._next() == ",":
                self._at += 1
        self._at += 1

    def _next(self) -> str:
        """Step over blanks and comments to the next character; empty at the end."""
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._text[self._at : self._at + 1]

    def _note(self, path: Path, at: int) -> None:
        line = bisect_left(self._breaks, at) + 1
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)
