"""What an embed may look like and say: each check gives a sentence, or empty."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from widget.accent import plain_colour

THEMES = ("auto", "light", "dark")
POSITIONS = ("", "left", "right")
MAX_GREETING = 2000
MAX_SUGGESTIONS = 6
MAX_SUGGESTION = 120
MAX_LABEL = 40
MAX_NUDGE = 200
MAX_PATH = 200
MAX_RADIUS = 40
MAX_WAIT_S = 3600

# Markdown's <https://…> is no markup.
_TAG = re.compile(r"<(?!https?://|mailto:)[A-Za-z/!?]")


def line_fault(text: str) -> str:
    """Refuse markup and whatever breaks a line."""
    if any(unicodedata.category(each) == "Cc" for each in text):
        return "must be one line, without control characters."
    return markup_fault(text)


def markup_fault(text: str) -> str:
    """Refuse HTML: the widget would show it as text."""
    if _TAG.search(text):
        return "holds HTML, which the widget shows as it is written; leave it out."
    return ""


def accent_fault(accent: str) -> str:
    """Refuse what is no hex colour; empty is the widget's own."""
    if not accent or plain_colour(accent):
        return ""
    return f"is {accent!r}; write a colour as '#0b6e4f'."


def path_fault(path: str) -> str:
    """Refuse a pattern that no path of a page can fit."""
    if path and not path.startswith(("/", "*")):
        return "must begin with '/', such as '/pricing*'."
    return line_fault(path)


def suggestion_fault(text: str) -> str:
    """Refuse an empty question, and one that fits no button."""
    if not text.strip():
        return "is empty; leave it out."
    if len(text) > MAX_SUGGESTION:
        return f"must have at most {MAX_SUGGESTION} characters."
    return line_fault(text)


def suggestions_fault(texts: Iterable[str]) -> str:
    """Refuse more questions than the panel shows, or one of them."""
    texts = list(texts)
    if len(texts) > MAX_SUGGESTIONS:
        return f"must be at most {MAX_SUGGESTIONS}."
    for number, text in enumerate(texts, 1):
        if fault := suggestion_fault(text):
            return f"number {number} {fault}"
    return ""
