from __future__ import annotations

import gzip
import zlib

import pytest

from sessions_app.domain.errors import BadResponse
from sessions_app.providers.inflate import Inflater, inflater_for


# C24
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_members_in_any_cut_are_all_read(size: int) -> None:
    raw = b"".join(gzip.compress(each) for each in (b"one", b"", b"two" * 50))
    inflater = Inflater()
    reads = [raw[at : at + size] for at in range(0, len(raw), size)]
    assert b"".join(map(inflater.feed, reads)) == b"one" + b"two" * 50


def test_flushed_event_comes_at_once() -> None:
    member, inflater = zlib.compressobj(wbits=31), Inflater()
    raw = member.compress(b"data: a\n\n") + member.flush(zlib.Z_SYNC_FLUSH)
    assert inflater.feed(raw) == b"data: a\n\n"


def test_deflate_is_read() -> None:
    inflater = inflater_for("Deflate")
    assert inflater is not None
    assert inflater.feed(zlib.compress(b"a")) == b"a"


def test_identity_needs_nothing() -> None:
    assert inflater_for(None) is None
    assert inflater_for("identity") is None


def test_plain_bytes_are_bad() -> None:
    with pytest.raises(BadResponse):
        Inflater().feed(b"data: a\n\n")
