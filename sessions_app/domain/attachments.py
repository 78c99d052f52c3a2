"""Files that go with a message: what they are, and how a model is told of them."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.domain.prompt import PromptImage

MAX_FILES = 4
MAX_IMAGE_BYTES = 5 * 1024 * 1024
MAX_PIXELS = 50_000_000
"""A picture of a few KB may fill gigabytes of memory wherever it is drawn."""
MAX_TEXT_BYTES = 256 * 1024
MAX_NAME_LENGTH = 200
TEXT = "text/plain"
_FENCES = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file that was accepted; ``media_type`` is what its bytes say it is."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of an earlier message; ``content`` None has no room in the prompt."""

    name: str
    media_type: str
    content: bytes | None


def image_type(content: bytes) -> str | None:
    """The media type of an image by its first bytes; None if it is none we know."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return None


def as_text(content: bytes) -> bytes | None:
    """The content as UTF-8 without a byte order mark; None if it is no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text.encode()


def told(content: str, files: Sequence[StoredFile]) -> tuple[str, list[PromptImage]]:
    """A message with its files: texts within it, fenced, and the images beside it."""
    parts = [content] if content.strip() else []
    images = []
    for file in files:
        if file.content is None:
            parts.append(f"[File {file.name}, not shown again]")
        elif file.media_type == TEXT:
            parts.append(_fenced(file.name, file.content.decode()))
        else:
            encoded = base64.b64encode(file.content).decode()
            images.append(PromptImage(file.media_type, encoded))
    return "\n\n".join(parts), images


def _fenced(name: str, text: str) -> str:
    """No fence of the text's own may end it."""
    longest = max((len(run) for run in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"File {name}:\n{fence}\n{text}\n{fence}"
