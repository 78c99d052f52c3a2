"""What is wrong with a file, and where."""

from __future__ import annotations


class ProvisionError(Exception):
    """A line of the file, counted from 1, and a sentence that fits on one line."""

    def __init__(self, line: int, sentence: str) -> None:
        self.line = line
        self.sentence = " ".join(sentence.split())
        self.source = "<text>"
        super().__init__(line, sentence)

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.sentence}"
