"""Takes what is published out of what Redis sends, and leaves all answers."""

from __future__ import annotations

import re

_PUBLISHED = re.compile(rb"[*>]3\r\n\$7\r\nmessage\r\n\$(\d+)\r\n")
_LENGTH = re.compile(rb"\$(\d+)\r\n")


class LostBells:
    """For one connection, as ``FaultProxy.filter_of`` makes them."""

    lost = 0
    """By all of them."""

    def __init__(self) -> None:
        self._rest = b""

    def __call__(self, piece: bytes) -> bytes:
        rest, kept = self._rest + piece, b""
        self._rest = b""
        while found := _PUBLISHED.search(rest):
            kept += rest[: found.start()]
            rest = rest[found.start() :]
            end = _end_of(rest, found.end() - found.start() + int(found[1]) + 2)
            if end > len(rest):
                self._rest = rest
                return kept
            LostBells.lost += 1
            rest = rest[end:]
        return kept + rest


def _end_of(raw: bytes, place: int) -> int:
    """Where the message ends whose payload's length stands at ``place``."""
    length = _LENGTH.match(raw, place)
    return len(raw) + 1 if length is None else length.end() + int(length[1]) + 2
