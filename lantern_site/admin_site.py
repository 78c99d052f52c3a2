"""The admin site, with the conversations in its menu."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from sessions_app.store.health import open_alerts

FIRST_APPS = ("sessions_app", "widget")


class LanternAdminSite(admin.AdminSite):
    """Django's admin under Lantern's name."""

    site_header = "Lantern"
    site_title = "Lantern"
    index_title = "Dashboard"
    site_url = "/"

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """What every page shows: to staff, also what there is to mend."""
        context = super().each_context(request)
        if self.has_permission(request):
            context["alerts"] = open_alerts()
        return context

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[Any]:
        """Conversations first, accounts last."""
        apps: list[Any] = super().get_app_list(request, app_label)
        return sorted(apps, key=lambda app: app["app_label"] not in FIRST_APPS)
