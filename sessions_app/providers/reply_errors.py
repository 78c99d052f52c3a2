"""Error objects inside a reply of status 200, judged by code and never by text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions_app.domain.errors import ProviderError, ProviderFailed
from sessions_app.providers.redaction import redact
from sessions_app.providers.status_errors import error_for_status

MAX_SAID = 64 * 1024
"""Characters that are looked through for keys; far fewer are kept of them, so that no
key is seen by its half."""

# ``code`` or ``type`` of an error object, as the HTTP status that it stands for.
_STATUS_OF_CODE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "overloaded": 529,
    "overloaded_error": 529,
    "server_overloaded": 529,
    "insufficient_system_resource": 529,
    "api_error": 500,
    "server_error": 500,
}


def error_in_reply(value: object, api_key: str = "") -> ProviderError:
    """The error for what stands under ``error``: an object, a string, anything."""
    diagnosis = redact(f"in the reply: {_message(value)[:MAX_SAID]}", api_key)
    status = _status(value) if isinstance(value, dict) else None
    if status is None:
        return ProviderFailed(diagnosis=diagnosis)
    return error_for_status(status, diagnosis=diagnosis)


def error_for_word(word: str) -> ProviderError:
    """The error for a finish word that says the provider failed."""
    diagnosis = f"finish_reason {word}"
    return error_for_status(_STATUS_OF_CODE.get(word, 500), diagnosis=diagnosis)


def _message(value: object) -> str:
    if isinstance(value, dict) and isinstance(value.get("message"), str):
        return f"{value['message']} (code {value.get('code')!r})"
    return f"{value}"


def _status(error: Mapping[str, Any]) -> int | None:
    for name in ("code", "status", "type"):
        value = error.get(name)
        if isinstance(value, str):
            is_number = len(value) == 3 and value.isdecimal()
            value = int(value) if is_number else _STATUS_OF_CODE.get(value)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return None
