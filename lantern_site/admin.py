"""The admin site, with the conversations in its menu."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest

FIRST_APPS = ("sessions_app", "widget")


class LanternAdminSite(admin.AdminSite):
    """Django's admin under Lantern's name."""

    site_header = "Lantern"
    site_title = "Lantern"
    index_title = "Dashboard"
    site_url = "/"

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[Any]:
        """Conversations first, accounts last."""
        apps: list[Any] = super().get_app_list(request, app_label)
        return sorted(apps, key=lambda app: app["app_label"] not in FIRST_APPS)


class LanternAdminConfig(AdminConfig):
    """Puts the site above in place of Django's own."""

    default_site = "lantern_site.admin.LanternAdminSite"
