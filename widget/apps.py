"""The embed."""

from __future__ import annotations

from django.apps import AppConfig


class WidgetConfig(AppConfig):
    """Widget installations, their visitors and the script they load."""

    name = "widget"
    verbose_name = "Widget"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from sessions_app.edge.auth import register_credential
        from sessions_app.erasure import register_farewell, register_owner_names
        from sessions_app.provision import register_section
        from sessions_app.store.retention import register_rules
        from widget.farewell import say_farewell
        from widget.provision import EmbedSection
        from widget.retention import embed_rules
        from widget.tokens import (
            KEY_PREFIX,
            VISITOR_PREFIX,
            owners_of_user,
            refuse_key,
            visitor_by_name,
            visitor_principal,
        )

        register_credential(VISITOR_PREFIX, visitor_principal, visitor_by_name)
        register_credential(KEY_PREFIX, refuse_key)
        register_section("embed", EmbedSection())
        register_rules(embed_rules)
        register_owner_names(owners_of_user)
        register_farewell(say_farewell)
