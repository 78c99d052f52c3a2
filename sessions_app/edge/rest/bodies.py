"""The JSON that clients send: sessions, messages, results, feedback."""

from __future__ import annotations

from typing import Any

import msgspec
from rest_framework import serializers

from sessions_app.domain.states import OnBusy
from sessions_app.edge.rest.base import StrictCharField, StrictSerializer

MAX_METADATA_BYTES = 16_384


class MetadataField(serializers.JSONField):
    """A JSON object of limited size."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be an object.")
        if len(msgspec.json.encode(data)) > MAX_METADATA_BYTES:
            raise serializers.ValidationError(
                f"May have at most {MAX_METADATA_BYTES} bytes."
            )
        return data


class NewSessionBody(StrictSerializer):
    agent = StrictCharField(max_length=100, required=False)
    title = StrictCharField(max_length=200, required=False, allow_blank=True)
    metadata = MetadataField(required=False)
    user = StrictCharField(max_length=200, required=False, allow_blank=True)
    systemPrompt = StrictCharField(
        max_length=100_000, required=False, allow_blank=True, source="system_prompt"
    )


class SessionChangesBody(StrictSerializer):
    title = StrictCharField(max_length=200, required=False, allow_blank=True)
    metadata = MetadataField(required=False)


class TurnOptionsBody(StrictSerializer):
    onBusy = serializers.ChoiceField(
        choices=[choice.value for choice in OnBusy], required=False
    )
    failover = serializers.ChoiceField(choices=["on", "off"], required=False)
    # Read by edge.tool_fields, for the socket and for REST alike; here for the schema.
    clientTools = serializers.ListField(child=serializers.DictField(), required=False)
    toolChoice = serializers.JSONField(required=False)


class NewFileBody(serializers.Serializer[Any]):
    name = serializers.CharField()
    mediaType = serializers.CharField()
    # Base64.
    data = serializers.CharField()  # type: ignore[assignment]


class NewMessageBody(TurnOptionsBody):
    # Length is checked by the service, whose limit is a setting.
    content = StrictCharField(trim_whitespace=False, allow_blank=True)
    # Read by edge.attachment_fields; here for the schema.
    attachments = NewFileBody(many=True, required=False)


class TakeoverBody(StrictSerializer):
    name = StrictCharField(max_length=100, required=False)


class OperatorReplyBody(TakeoverBody):
    content = StrictCharField(trim_whitespace=False, allow_blank=True)


class FeedbackBody(StrictSerializer):
    rating = serializers.ChoiceField(choices=["up", "down"])
    comment = StrictCharField(max_length=2000, required=False, allow_blank=True)


class ToolResultShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    content = serializers.CharField(allow_blank=True)
    isError = serializers.BooleanField(required=False)


class ToolResultsBody(serializers.Serializer[Any]):
    results = ToolResultShape(many=True)


class ApprovalShape(serializers.Serializer[Any]):
    id = serializers.CharField()
    allow = serializers.BooleanField()


class ApprovalsBody(serializers.Serializer[Any]):
    approvals = ApprovalShape(many=True)


class EmptyBody(StrictSerializer):
    pass
