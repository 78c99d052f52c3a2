"""How large a picture is, by what its first bytes say."""

from __future__ import annotations

from typing import Literal

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})
_MOST_SEGMENTS = 4096
ENDLESS = 1 << 62
"""What hides its size behind thousands of segments means no good."""


def pixels_of(content: bytes) -> int | None:
    """Width times height of a PNG, GIF, WebP or JPEG; None where it does not say."""
    if content.startswith(b"\x89PNG"):
        if content[12:16] != b"IHDR":
            return None
        return _area(content[16:20], content[20:24], "big")
    if content.startswith(b"GIF8"):
        return _area(content[6:8], content[8:10], "little")
    if content.startswith(b"RIFF"):
        return _webp(content)
    return _jpeg(content)


def _area(width: bytes, height: bytes, order: Literal["big", "little"]) -> int | None:
    if not height:
        return None
    return int.from_bytes(width, order) * int.from_bytes(height, order)


def _webp(content: bytes) -> int | None:
    kind, head = content[12:16], content[20:30]
    if len(head) < 10:
        return None
    if kind == b"VP8X":
        sides = int.from_bytes(head[4:10], "little")
        return ((sides & 0xFFFFFF) + 1) * ((sides >> 24) + 1)
    if kind == b"VP8L":
        bits = int.from_bytes(head[1:5], "little")
        return ((bits & 0x3FFF) + 1) * ((bits >> 14 & 0x3FFF) + 1)
    bits = int.from_bytes(head[6:10], "little")
    return (bits & 0x3FFF) * (bits >> 16 & 0x3FFF)


def _jpeg(content: bytes) -> int | None:
    """From the header of its first frame, after other segments."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        if at + 9 > len(content) or content[at] != 0xFF:
            return None
        marker = content[at + 1]
        if marker in _JPEG_FRAMES:
            return _area(content[at + 7 : at + 9], content[at + 5 : at + 7], "big")
        if marker == 0xFF:
            at += 1
        elif marker in _JPEG_BARE:
            at += 2
        else:
            at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return ENDLESS
