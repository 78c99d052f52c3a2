"""Identifiers that cannot be guessed: a prefix and 131 random bits in base62."""

from __future__ import annotations

import re
import secrets
import string

ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
LENGTH = 22  # 62**22 > 2**131

SESSION = "sess"
TURN = "tur"
MESSAGE = "msg"
ATTEMPT = "att"
CALL = "call"
FILE = "file"

_FORM = re.compile("[0-9A-Za-z_]{1,40}")


def new_id(prefix: str) -> str:
    """A fresh id such as ``sess_5hT…``."""
    return f"{prefix}_{random_text(LENGTH)}"


def random_text(length: int) -> str:
    """``length`` random characters of base62."""
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def could_be_id(text: str) -> bool:
    """Whether it is worth asking a database, which may choke on anything else."""
    return _FORM.fullmatch(text) is not None
