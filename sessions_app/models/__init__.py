"""What is stored; only ``store`` and the admin touch it."""

from __future__ import annotations

from sessions_app.models.agent import Agent
from sessions_app.models.alert import Alert
from sessions_app.models.api_key import ApiKey
from sessions_app.models.attachment import Attachment
from sessions_app.models.attempt import Attempt
from sessions_app.models.budget import Budget, BudgetLedger, BudgetReservation
from sessions_app.models.deleted_usage import DeletedUsage
from sessions_app.models.idempotency import Idempotency
from sessions_app.models.limit import RequestLimit
from sessions_app.models.message import Message
from sessions_app.models.provider import Price, Provider
from sessions_app.models.session import Session
from sessions_app.models.tool import Tool
from sessions_app.models.tool_call import ToolCall
from sessions_app.models.turn import Feedback, Turn

__all__ = [
    "Agent",
    "Alert",
    "ApiKey",
    "Attachment",
    "Attempt",
    "Budget",
    "BudgetLedger",
    "BudgetReservation",
    "DeletedUsage",
    "Feedback",
    "Idempotency",
    "Message",
    "Price",
    "Provider",
    "RequestLimit",
    "Session",
    "Tool",
    "ToolCall",
    "Turn",
]
