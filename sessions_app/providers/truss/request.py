"""A completion request as the JSON of a model that answers with raw text."""

from __future__ import annotations

import msgspec

from sessions_app.domain.prompt import CompletionRequest
from sessions_app.providers.plain_prompt import prompt_text


def request_body(request: CompletionRequest) -> bytes:
    """The encoded body; a stream is always asked for, as its end is plain."""
    return msgspec.json.encode({"prompt": prompt_text(request), "stream": True})
