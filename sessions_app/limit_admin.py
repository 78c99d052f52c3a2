"""Limits in the dashboard."""

from __future__ import annotations

from django.contrib import admin

from sessions_app.models import RequestLimit
from sessions_app.target_field import TargetForm


class LimitForm(TargetForm):
    """On whom, and how much."""

    each = {
        "visitor": "Each visitor",
        "address": "Each address that visitors come from",
    }

    class Meta:
        model = RequestLimit
        fields = ("on", "requests_per_minute", "concurrent_turns", "is_enabled")


@admin.register(RequestLimit)
class RequestLimitAdmin(admin.ModelAdmin[RequestLimit]):
    """How fast, and how much at once."""

    form = LimitForm
    list_display = ("on", "requests_per_minute", "concurrent_turns", "is_enabled")
