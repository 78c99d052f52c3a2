"""What the environment says about database and secrets."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured

from sessions_app.conf import read_env, setting_from_env

BUSY_TIMEOUT_S = 5
CONNECT_TIMEOUT_S = 3
MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
MAIL_TIMEOUT_S = 10
POOL_TIMEOUT_S = 3.0
"""A request that finds no free connection for so long is told to come again."""


def database(folder: Path) -> dict[str, Any]:
    """Django's entry for ``DATABASE_URL``; SQLite in the data folder if unset."""
    url = read_env("DATABASE_URL")
    if not url:
        return _sqlite(str(folder / "lantern.sqlite3"))
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(unquote(parts.path[1:]))
    if parts.scheme in ("postgres", "postgresql"):
        return _postgresql(parts)
    raise ImproperlyConfigured(
        "DATABASE_URL must begin with sqlite:/// or postgresql://."
    )


def _postgresql(parts: SplitResult) -> dict[str, Any]:
    try:
        port = str(parts.port or "")
    except ValueError as error:
        raise ImproperlyConfigured("The port in DATABASE_URL is no number.") from error
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path[1:]),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": port,
        # A connection that died with the server is found before it is used.
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            "connect_timeout": CONNECT_TIMEOUT_S,
            "application_name": "lantern",
            **dict(parse_qsl(parts.query)),
            "pool": {
                "min_size": 0,
                "max_size": 2 * setting_from_env("database_threads"),
                "timeout": POOL_TIMEOUT_S,
                # Whoever asks next tries again: the pool's own pauses grow to minutes.
                "reconnect_timeout": POOL_TIMEOUT_S,
            },
        },
    }


def _sqlite(path: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "timeout": BUSY_TIMEOUT_S,
            # A transaction that begins with a read cannot wait for the lock later.
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def mail_server(sender: str) -> dict[str, Any]:
    """Django's settings for ``LANTERN_EMAIL_URL``; none if it is not set."""
    url = read_env("LANTERN_EMAIL_URL")
    if bool(url) != bool(sender):
        raise ImproperlyConfigured(
            "LANTERN_EMAIL_URL and LANTERN_EMAIL_FROM belong together; set both."
        )
    if not url:
        return {}
    parts = urlsplit(url)
    fault = "LANTERN_EMAIL_URL must be smtp://, smtp+tls:// or smtps://, and a host."
    if parts.scheme not in MAIL_PORTS or not parts.hostname:
        raise ImproperlyConfigured(fault)
    try:
        port = parts.port or MAIL_PORTS[parts.scheme]
    except ValueError as error:
        raise ImproperlyConfigured(fault) from error
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": MAIL_TIMEOUT_S,
    }


def switch(name: str) -> bool:
    """A variable that is ``on``, as if it is not set, or ``off``."""
    text = read_env(name) or "on"
    if text not in ("on", "off"):
        raise ImproperlyConfigured(f"{name} is {text!r}; write on or off.")
    return text == "on"


def secret_keys(folder: Path) -> tuple[list[str], str]:
    """The Fernet keys, and Django's signing key derived from the first of them.

    Without ``LANTERN_SECRET_KEYS`` a key is made once and kept in the data folder,
    readable by its owner alone.
    """
    text = read_env("LANTERN_SECRET_KEYS")
    if text is None:
        text = _kept_key(folder / "secret.key")
    keys = [key.strip() for key in text.split(",") if key.strip()]
    if not keys:
        raise ImproperlyConfigured("LANTERN_SECRET_KEYS is empty; write a Fernet key.")
    signing = hashlib.sha256(b"lantern signing" + keys[0].encode()).hexdigest()
    return keys, signing


def _kept_key(path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    key = Fernet.generate_key().decode()
    with os.fdopen(handle, "w") as file:
        file.write(key + "\n")
    return key
