"""The paths below ``/v1/``."""

from __future__ import annotations

from django.urls import path

from sessions_app.edge.rest import (
    attachment_views,
    operator_views,
    transcript_views,
    views,
)
from sessions_app.edge.rest.schema import socket_schema_page

SESSION = "sessions/<str:session_id>"
TURN = f"{SESSION}/turns/<str:turn_id>"

urlpatterns = [
    path("socket/schema", socket_schema_page),
    path("sessions", views.SessionsEndpoint.as_view()),
    path(SESSION, views.SessionEndpoint.as_view()),
    path(f"{SESSION}/messages", views.MessagesEndpoint.as_view()),
    path(f"{SESSION}/regenerate", views.RegenerateEndpoint.as_view()),
    path(f"{SESSION}/ticket", views.TicketEndpoint.as_view()),
    path(
        f"{SESSION}/attachments/<str:attachment_id>",
        attachment_views.AttachmentEndpoint.as_view(),
    ),
    path(f"{SESSION}/transcript", transcript_views.TranscriptEndpoint.as_view()),
    path(f"{SESSION}/takeover", operator_views.TakeoverEndpoint.as_view()),
    path(f"{SESSION}/replies", operator_views.OperatorRepliesEndpoint.as_view()),
    path(TURN, views.TurnEndpoint.as_view()),
    path(f"{TURN}/cancel", views.CancelEndpoint.as_view()),
    path(f"{TURN}/toolResults", views.ToolResultsEndpoint.as_view()),
    path(f"{TURN}/approvals", views.ApprovalsEndpoint.as_view()),
    path(f"{TURN}/feedback", views.FeedbackEndpoint.as_view()),
]
