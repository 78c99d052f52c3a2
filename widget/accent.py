"""The accent colour, and whether the text on it can be read (WCAG 2.2).

``widget/js/src/panel/accent.ts`` does the same in the browser;
``tests/vectors/accent.json`` holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LIGHT_TEXT = "#ffffff"
DARK_TEXT = "#1a1613"
READABLE = 4.5
_SHORT = re.compile(r"#[0-9a-f]{3}")
_LONG = re.compile(r"#[0-9a-f]{6}")

Channels = tuple[int, ...]


def plain_colour(value: str) -> str | None:
    """``#rrggbb`` in small letters of any hex colour; None if it is none."""
    value = value.strip().lower()
    if _SHORT.fullmatch(value):
        value = "#" + "".join(digit * 2 for digit in value[1:])
    return value if _LONG.fullmatch(value) else None


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two ``#rrggbb`` colours, from 1 to 21."""
    low, high = sorted((_luminance(_channels(one)), _luminance(_channels(other))))
    return (high + 0.05) / (low + 0.05)


def text_on(accent: str) -> str:
    """The text colour that the widget puts on an accent."""
    white = contrast(accent, LIGHT_TEXT)
    is_light = white >= READABLE or white > contrast(accent, DARK_TEXT)
    return LIGHT_TEXT if is_light else DARK_TEXT


def text_contrast(accent: str) -> float:
    """How well the text on an accent can be read."""
    return contrast(accent, text_on(accent))


def nearest_readable(accent: str) -> str:
    """The accent itself, or the one nearest to it on which text can be read."""
    channels = _channels(accent)
    for step in range(256):
        for end in (0, 255):
            moved = _hex(round(each + (end - each) * step / 255) for each in channels)
            if text_contrast(moved) >= READABLE:
                return moved
    raise AssertionError("black and white can be read on")


def accent_warning(accent: str) -> str:
    """A sentence about an accent that text is hard to read on, or empty."""
    colour = plain_colour(accent)
    if colour is None or text_contrast(colour) >= READABLE:
        return ""
    return (
        f"Text on the accent {colour} has a contrast of {text_contrast(colour):.2f},"
        f" and should have {READABLE}; the nearest colour that has is"
        f" {nearest_readable(colour)}."
    )


def _channels(colour: str) -> Channels:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def _hex(channels: Iterable[int]) -> str:
    return "#" + "".join(f"{each:02x}" for each in channels)


def _luminance(channels: Channels) -> float:
    red, green, blue = (_linear(each / 255) for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    if channel <= 0.04045:
        return channel / 12.92
    return float(((channel + 0.055) / 1.055) ** 2.4)
