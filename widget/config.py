"""What a browser is told of an embed's looks and words."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from sessions_app.domain.lists import texts_of
from sessions_app.mail import can_send
from widget.accent import plain_colour
from widget.models import Embed


class ConfigShape(serializers.Serializer[Any]):
    """Named as the script tag's ``data-`` attributes, which go before it."""

    title = serializers.CharField()
    greeting = serializers.CharField()
    placeholder = serializers.CharField()
    agentName = serializers.CharField()
    suggestions = serializers.ListField(child=serializers.CharField())
    accent = serializers.CharField()
    theme = serializers.CharField()
    position = serializers.CharField()
    radius = serializers.IntegerField(allow_null=True)
    launcherLabel = serializers.CharField()
    collectContext = serializers.BooleanField()
    pageTool = serializers.BooleanField()
    emailTranscript = serializers.BooleanField()
    attachments = serializers.BooleanField()
    openAfter = serializers.FloatField(allow_null=True)
    openOnPath = serializers.CharField()
    openOnExit = serializers.BooleanField()
    nudge = serializers.CharField()


def config_of(embed: Embed) -> dict[str, Any]:
    """The embed's configuration, by the names of ``ConfigShape``."""
    return {
        "title": embed.title,
        "greeting": embed.greeting,
        "placeholder": embed.placeholder,
        "agentName": embed.agent_name,
        "suggestions": list(texts_of(embed.suggestions)),
        "accent": plain_colour(embed.accent) or "",
        "theme": embed.theme,
        "position": embed.position,
        "radius": embed.radius,
        "launcherLabel": embed.launcher_label,
        "collectContext": embed.collect_context,
        "pageTool": embed.page_tool,
        "emailTranscript": can_send(),
        "attachments": embed.attachments or embed.agent.attachments,
        "openAfter": embed.open_after_s,
        "openOnPath": embed.open_on_path,
        "openOnExit": embed.open_on_exit,
        "nudge": embed.nudge,
    }
