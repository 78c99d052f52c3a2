"""Text that is encrypted at rest."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.db import models


@lru_cache(maxsize=1)
def _keys() -> MultiFernet:
    """The Fernet keys in force: the first encrypts, all of them decrypt."""
    try:
        return MultiFernet([Fernet(key) for key in settings.LANTERN_SECRET_KEYS])
    except (ValueError, TypeError) as error:
        raise ImproperlyConfigured(
            "LANTERN_SECRET_KEYS must be Fernet keys, separated by commas."
        ) from error


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]
    """Plain text in Python, a Fernet token in the database; empty stays empty."""

    def get_prep_value(self, value: Any) -> Any:
        if not value:
            return ""
        return _keys().encrypt(str(value).encode()).decode()

    def from_db_value(self, value: str | None, *_: Any) -> str:
        if not value:
            return ""
        try:
            return _keys().decrypt(value.encode()).decode()
        except InvalidToken as error:
            raise ImproperlyConfigured(
                "A stored secret was encrypted with a key that LANTERN_SECRET_KEYS"
                " does not hold; add that key again."
            ) from error


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "LANTERN_SECRET_KEYS":
        _keys.cache_clear()


setting_changed.connect(_forget)
