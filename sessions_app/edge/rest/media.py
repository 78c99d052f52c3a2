"""JSON in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from sessions_app.conf import conf
from sessions_app.domain.errors import TooLarge
from sessions_app.edge.body import decode_object
from sessions_app.wire.payload import encode_json


class JsonParser(BaseParser):
    """Reads any content type as JSON: there is nothing else to send here."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        limit = conf().max_body_bytes
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(f"A request body has at most {limit} bytes.")
        return decode_object(body)


class JsonRenderer(BaseRenderer):
    """Writes JSON; decimals are numbers, times are RFC 3339."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else encode_json(data)
