"""Limits in the dashboard."""

from __future__ import annotations

from django.contrib import admin

from sessions_app.models import RequestLimit


@admin.register(RequestLimit)
class RequestLimitAdmin(admin.ModelAdmin[RequestLimit]):
    """How fast, and how much at once."""

    list_display = ("on", "requests_per_minute", "concurrent_turns", "is_enabled")
