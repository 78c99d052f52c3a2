"""The admin site, with the conversations in its menu."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig


class LanternAdminSite(admin.AdminSite):
    """Django's admin under Lantern's name."""

    site_header = "Lantern"
    site_title = "Lantern"
    index_title = "Dashboard"
    site_url = "/"


class LanternAdminConfig(AdminConfig):
    """Puts the site above in place of Django's own."""

    default_site = "lantern_site.admin.LanternAdminSite"
