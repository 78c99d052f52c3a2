"""The paths below ``/v1/``."""

from __future__ import annotations

from django.urls import path

from sessions_app.edge.rest import views
from sessions_app.edge.rest.schema import socket_schema_page

TURN = "sessions/<str:session_id>/turns/<str:turn_id>"

urlpatterns = [
    path("socket/schema", socket_schema_page),
    path("sessions", views.SessionsEndpoint.as_view()),
    path("sessions/<str:session_id>", views.SessionEndpoint.as_view()),
    path("sessions/<str:session_id>/messages", views.MessagesEndpoint.as_view()),
    path("sessions/<str:session_id>/regenerate", views.RegenerateEndpoint.as_view()),
    path("sessions/<str:session_id>/ticket", views.TicketEndpoint.as_view()),
    path(TURN, views.TurnEndpoint.as_view()),
    path(f"{TURN}/cancel", views.CancelEndpoint.as_view()),
    path(f"{TURN}/toolResults", views.ToolResultsEndpoint.as_view()),
    path(f"{TURN}/approvals", views.ApprovalsEndpoint.as_view()),
    path(f"{TURN}/feedback", views.FeedbackEndpoint.as_view()),
]
