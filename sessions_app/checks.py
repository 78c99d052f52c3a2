"""System checks: what would fail later is said at start-up."""

from __future__ import annotations

from typing import Any

from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from sessions_app.conf import conf

WIDGET_SCRIPT = "widget/widget.js"


@register()
def check_settings(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The settings table can be read."""
    try:
        conf()
    except ImproperlyConfigured as error:
        return [Error(str(error), id="lantern.E001")]
    return []


@register()
def check_widget_script(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """The built widget is there."""
    if finders.find(WIDGET_SCRIPT):
        return []
    return [
        Error(
            f"static/{WIDGET_SCRIPT} is missing.",
            hint="It is part of the repository; build it with: make js",
            id="lantern.E002",
        )
    ]
