"""Texts of providers without keys: for the log, the dashboard, and raw messages.

Each pattern ends a failed match after a fixed number of characters, so that hostile
text costs time in proportion to its length, not to the square of it.
"""

from __future__ import annotations

import re

_CHARACTER = r"[^\s\"'\\,;<>(){}\[\]]"
_SECRET = (
    # A digit, a capital within a word, or padding: a plain word has none of them.
    rf"(?={_CHARACTER}{{0,64}}?(?:[0-9=+]|(?-i:[a-z][A-Z]))|{_CHARACTER}{{24}})"
    rf"{_CHARACTER}"
)
_IS = r"[\"'\\\s]{0,4}[:=][\"'\\\s]{0,4}"
# Possessive: a scheme is no key, also where its key is hidden already.
_SCHEME = r"(?:(?:bearer|basic|token|digest|api[-_ ]?key|key)[:\s]{1,3})?+"

_URL = re.compile(r"(?:\b[a-z][a-z0-9+.-]{0,30})?://[^\s\"'<>\\]+", re.IGNORECASE)
_USER_OF_URL = re.compile(r"://[^\s\"'<>\\/@]{1,256}@")
_KEY_LIKE = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:(?:sk|pk|rk|key|gsk|xai|hf|r8|nvapi|glpat|gh[opsur]|github_pat|tgp_v[0-9])[-_]"
    r"|AIza|AKIA|eyJ)[\w*.-]{6,}"
    # Our own; what is signed has colons.
    r"|l[ktv]_[\w*.:-]{6,}"
    # Models have such names, too, and are shorter between hyphens.
    r"|(?:pplx|fw|csk|dsk)[-_]\w{16,})"
)
_BEARER = re.compile(rf"\b(bearer(?:{_IS}|\s+))[^\s\"',\\]+", re.IGNORECASE)
_AFTER_SCHEME = re.compile(
    rf"\b((?:basic|api[-_]?key)\s{{1,3}}){_SECRET}{{8,}}"
    rf"|\b(token\s{{1,3}}){_SECRET}{{16,}}",
    re.IGNORECASE,
)
_AFTER_HEADER = re.compile(
    rf"((?:authorization|passw(?:or)?d){_IS}{_SCHEME}){_CHARACTER}+",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"((?:x-[a-z-]{0,16}(?:key|token|secret)|api[-_ ]?key|(?:access|auth)[-_]?token"
    rf"|(?:access|client|secret)[-_]?(?:key|secret))(?:\s(?:provided|is|was))?{_IS}"
    rf"{_SCHEME}){_SECRET}{{6,}}"
    # A model may follow these, so hyphens do not count.
    rf"|\b((?:token|secret|key){_IS})(?=\w{{0,64}}?[0-9])\w{{20,}}",
    re.IGNORECASE,
)


def redact(text: str, api_key: str) -> str:
    """The text for the log: without the key, anything like a key, or a URL."""
    return _URL.sub("[url]", redact_keys(text, api_key))


def redact_keys(text: str, api_key: str) -> str:
    """The text without the key or anything like one; URLs stay, but for their user."""
    if api_key:
        text = text.replace(api_key, "[key]")
    text = _USER_OF_URL.sub("://[key]@", text)
    text = _KEY_LIKE.sub("[key]", text)
    for pattern in (_BEARER, _AFTER_HEADER, _AFTER_NAME, _AFTER_SCHEME):
        text = pattern.sub(_named_key, text)
    return text


def _named_key(found: re.Match[str]) -> str:
    """What comes before the key stays: it says which one it was."""
    return f"{next(filter(None, found.groups()))}[key]"
