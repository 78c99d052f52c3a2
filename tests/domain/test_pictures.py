"""The size of a picture, by hand-made headers of each kind."""

from __future__ import annotations

import pytest

from sessions_app.domain.pictures import ENDLESS, pixels_of

SOF = bytes.fromhex("ffc0001108 0190 0258 03")  # 400 high, 600 wide
EXIF = b"\xff\xe1\x00\x0a" + b"\xff\xc0\x00\x11\x08\x00\x01\x00"


def webp(kind: bytes, head: bytes) -> bytes:
    return b"RIFF\x00\x00\x00\x00WEBP" + kind + b"\x00\x00\x00\x00" + head


KINDS = {
    "png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes.fromhex("0000025800000190"),
    "gif": b"GIF89a" + bytes.fromhex("58029001"),
    "jpeg": b"\xff\xd8" + SOF,
    "progressive jpeg": b"\xff\xd8" + SOF.replace(b"\xff\xc0", b"\xff\xc2"),
    # What looks like a frame within another segment is none.
    "jpeg with a segment before": b"\xff\xd8" + EXIF + b"\xff\xff" + SOF[1:],
    "lossy webp": webp(b"VP8 ", bytes.fromhex("000000 9d012a 5802 9001")),
    "lossless webp": webp(
        b"VP8L", b"\x2f" + (599 | 399 << 14).to_bytes(4, "little") + b"\x00" * 5
    ),
    "webp with more": webp(b"VP8X", bytes.fromhex("00000000 570200 8f0100")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_says_its_size(kind: str) -> None:
    assert pixels_of(KINDS[kind]) == 600 * 400


@pytest.mark.parametrize("kind", KINDS)
def test_cut_anywhere_it_says_nothing_or_a_number(kind: str) -> None:
    for end in range(2, len(KINDS[kind])):
        found = pixels_of(KINDS[kind][:end])
        assert found is None or found >= 0


def test_jpeg_that_hides_its_size_is_endless() -> None:
    """Five megabytes of them would take a second to go through, too."""
    for segment in (b"\xff\xe0\x00\x02", b"\xff"):
        content = b"\xff\xd8" + segment * 50_000 + SOF
        assert pixels_of(content) == ENDLESS
