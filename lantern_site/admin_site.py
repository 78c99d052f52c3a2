"""The admin site, with the conversations in its menu."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from sessions_app.domain.errors import RateLimited
from sessions_app.edge.pace import Act, address_subject, take
from sessions_app.store.health import open_alerts

FIRST_APPS = ("sessions_app", "widget")


class PacedLogin(AdminAuthenticationForm):
    """Tries few passwords for one address: to guess is slow, and so is a hash."""

    def clean(self) -> dict[str, Any]:
        address = self.request.META.get("REMOTE_ADDR") if self.request else None
        try:
            take(Act.LOGIN, address_subject(address))
        except RateLimited as error:
            wait_s = error.details["retry_after_s"]
            raise ValidationError(
                f"Too many attempts; try again in {wait_s} seconds."
            ) from error
        return super().clean()


class LanternAdminSite(admin.AdminSite):
    """Django's admin under Lantern's name."""

    site_header = "Lantern"
    site_title = "Lantern"
    index_title = "Dashboard"
    site_url = "/"
    login_form = PacedLogin

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
