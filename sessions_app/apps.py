"""The sessions app."""

from __future__ import annotations

from django.apps import AppConfig


class SessionsAppConfig(AppConfig):
    """Sessions, turns and everything that answers them."""

    name = "sessions_app"
    label = "sessions_app"
    verbose_name = "Lantern"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from sessions_app import checks  # noqa: F401
