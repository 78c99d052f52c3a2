from __future__ import annotations

import json

import pytest

from tests.fakes.live_server import ROOT
from widget import accent

VECTORS = json.loads((ROOT / "tests" / "vectors" / "accent.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda each: str(each["accent"]))
def test_text_and_nearest_colour_are_those_of_the_browser(vector) -> None:
    colour = vector["accent"]
    assert accent.text_on(colour) == vector["text"]
    assert accent.text_contrast(colour) == pytest.approx(vector["contrast"], abs=0.006)
    assert accent.nearest_readable(colour) == vector["nearest"]


def test_nearest_colour_can_always_be_read_on() -> None:
    steps = range(0, 256, 15)
    for channels in ((r, g, b) for r in steps for g in steps for b in steps):
        colour = "#" + "".join(f"{each:02x}" for each in channels)
        nearest = accent.nearest_readable(colour)
        assert accent.text_contrast(nearest) >= accent.READABLE
        is_fine = accent.text_contrast(colour) >= accent.READABLE
        assert (nearest == colour) is is_fine


def test_contrast_is_that_of_the_recommendation() -> None:
    assert accent.contrast("#000000", "#ffffff") == 21
    assert accent.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("#0B6E4F", "#0b6e4f"),
        ("#fa0", "#ffaa00"),
        (" #fa0 ", "#ffaa00"),
        ("teal", None),
        ("#12345", None),
        ("#0b6e4f80", None),
        ("rgb(1,2,3)", None),
        ("#0b6e4f;color:red", None),
        ("", None),
    ],
)
def test_only_hex_colours_are_taken(value: str, plain: str | None) -> None:
    assert accent.plain_colour(value) == plain


def test_warning_names_a_colour_that_passes() -> None:
    warning = accent.accent_warning("#e63946")
    assert "#e63946" in warning
    assert accent.nearest_readable("#e63946") in warning
    assert accent.accent_warning("#0b6e4f") == ""
    assert accent.accent_warning("teal") == ""
