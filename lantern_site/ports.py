"""The port that the server listens on."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from sessions_app.conf import read_env

DEFAULT_PORT = 8000
BACKLOG = 4096
"""Connections that may wait to be accepted, as far as the kernel lets it.

When all readers come back at once, those that find no room are dropped without a word:
they ask again after 1, 3, 7 s and so on, and one whose handshake was dropped at its end
waits for an answer for minutes. The kernel's own limit is ``net.core.somaxconn``.
"""


def default_port() -> int:
    """``PORT``, 8000 if it is not set."""
    text = read_env("PORT")
    if not text:
        return DEFAULT_PORT
    if not (text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65536):
        raise ImproperlyConfigured(f"PORT is {text!r}; write a number below 65536.")
    return int(text)
