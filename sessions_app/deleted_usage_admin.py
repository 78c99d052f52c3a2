"""What deleted conversations have cost, in the dashboard."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from sessions_app.models import DeletedUsage


@admin.register(DeletedUsage)
class DeletedUsageAdmin(admin.ModelAdmin[DeletedUsage]):
    """Sums of a month, to be looked at only: a bill holds them, too."""

    list_display = (
        "month",
        "agent",
        "payer",
        "provider",
        "model",
        "attempts",
        "tokens_in",
        "tokens_out",
        "dollars",
        "unpriced",
    )
    list_filter = ("month", "agent")

    @admin.display(description="Cost in USD", ordering="cost")
    def dollars(self, usage: DeletedUsage) -> str:
        return f"{usage.cost_usd:f}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(
        self, request: HttpRequest, obj: DeletedUsage | None = None
    ) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: DeletedUsage | None = None
    ) -> bool:
        return False
