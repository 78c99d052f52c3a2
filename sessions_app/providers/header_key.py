"""The account's key as a header may hold it."""

from __future__ import annotations

from sessions_app.domain.errors import ProviderAuth
from sessions_app.domain.route import ProviderConfig


def header_key(config: ProviderConfig) -> str:
    """The key, empty if there is none; ProviderAuth if no header can hold it."""
    key = config.api_key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ProviderAuth(diagnosis="the API key has characters no header may hold")
    return key
