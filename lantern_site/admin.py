"""Has Django's admin use Lantern's site."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class LanternAdminConfig(AdminConfig):
    """Puts the site in place of Django's own, once the models are there."""

    default_site = "lantern_site.admin_site.LanternAdminSite"
