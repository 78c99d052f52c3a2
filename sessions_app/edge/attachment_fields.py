"""Attachments of a message as clients send them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from sessions_app.domain.attachments import (
    MAX_FILES,
    MAX_IMAGE_BYTES,
    MAX_NAME_LENGTH,
    MAX_PIXELS,
    MAX_TEXT_BYTES,
    TEXT,
    NewFile,
    as_text,
    image_type,
)
from sessions_app.domain.errors import BadRequest, TooLarge
from sessions_app.domain.pictures import pixels_of
from sessions_app.domain.text import one_line
from sessions_app.edge.body import require_known

FIELDS = ("name", "mediaType", "data")
PARAM = "attachments"


def attachments_of(value: Any) -> tuple[NewFile, ...]:
    """The files, by what their bytes say; raises BadRequest or TooLarge."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadRequest("attachments is a list.", param=PARAM)
    if len(value) > MAX_FILES:
        raise BadRequest(f"A message has at most {MAX_FILES} attachments.", param=PARAM)
    return tuple(_file_of(each, f"{PARAM}.{n}") for n, each in enumerate(value))


def _file_of(value: Any, param: str) -> NewFile:
    if not isinstance(value, dict):
        raise BadRequest("An attachment is an object.", param=param)
    require_known(value, FIELDS, prefix=f"{param}.")
    texts = {key: _text(value, key, param) for key in FIELDS}
    name = _shown_name(texts["name"])
    if not name:
        raise BadRequest("An attachment has a name.", param=f"{param}.name")
    try:
        content = base64.b64decode(texts["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest("This is not base64.", param=f"{param}.data") from error
    return _sniffed(name, texts["mediaType"].lower(), content, f"{param}.data")


def _text(value: Mapping[str, Any], key: str, param: str) -> str:
    text = value.get(key)
    if not isinstance(text, str):
        raise BadRequest(f"{key} is a string.", param=f"{param}.{key}")
    return text


def _shown_name(name: str) -> str:
    """A file's name without its path, fit for a header and a line of text."""
    return one_line(name.replace("\\", "/").rpartition("/")[2], MAX_NAME_LENGTH)


def _sniffed(name: str, said: str, content: bytes, param: str) -> NewFile:
    """What a client says of a file is no more than a wish: its bytes decide."""
    if not content:
        raise BadRequest("The file is empty.", param=param)
    if found := image_type(content):
        if len(content) > MAX_IMAGE_BYTES:
            limit = f"An image has at most {MAX_IMAGE_BYTES} bytes."
            raise TooLarge(limit, param=param)
        if (pixels_of(content) or 0) > MAX_PIXELS:
            limit = f"An image has at most {MAX_PIXELS} pixels."
            raise TooLarge(limit, param=param)
        return NewFile(name, found, content)
    text = None if said.startswith("image/") and "svg" not in said else as_text(content)
    if text is None:
        raise BadRequest(
            "Only PNG, JPEG, GIF and WebP images and UTF-8 text are taken.", param=param
        )
    if len(text) > MAX_TEXT_BYTES:
        limit = f"A text file has at most {MAX_TEXT_BYTES} bytes."
        raise TooLarge(limit, param=param)
    return NewFile(name, TEXT, text)
