"""Compressed replies, decoded as they come."""

from __future__ import annotations

import zlib

from sessions_app.domain.errors import BadResponse

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_CODINGS = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Decode a gzip or zlib stream read by read.

    A server may send each event as a gzip member of its own, so what follows the
    end of one member is the next.
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_OR_ZLIB)

    def feed(self, raw: bytes) -> bytes:
        """What can be decoded by now; BadResponse if the bytes are not compressed."""
        found = []
        try:
            while raw:
                if self._member.eof:
                    self._member = zlib.decompressobj(_GZIP_OR_ZLIB)
                found.append(self._member.decompress(raw))
                raw = self._member.unused_data
        except zlib.error as error:
            raise BadResponse(diagnosis=f"cannot decompress: {error}") from error
        return b"".join(found)


def inflater_for(content_encoding: str | None) -> Inflater | None:
    """The decoder for a ``Content-Encoding``, None if there is nothing to decode."""
    coding = (content_encoding or "").strip().lower()
    if coding in ("", "identity"):
        return None
    if coding in _CODINGS:
        return Inflater()
    raise BadResponse(diagnosis=f"content-encoding {coding[:40]!r} was not asked for")
