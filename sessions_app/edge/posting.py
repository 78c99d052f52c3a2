"""From a request to a session or a message, behind Django's handler and ahead of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions_app import service
from sessions_app.domain.errors import NotAllowed
from sessions_app.domain.states import OnBusy
from sessions_app.edge.attachment_fields import attachments_of
from sessions_app.edge.auth import Principal
from sessions_app.edge.body import idempotency_key
from sessions_app.edge.pace import Act, require_pace
from sessions_app.edge.rest.base import validated
from sessions_app.edge.rest.bodies import (
    NewMessageBody,
    NewSessionBody,
    TurnOptionsBody,
)
from sessions_app.edge.tool_fields import client_tools_of, tool_choice_of
from sessions_app.models import Session
from sessions_app.service import NewMessage

SERVER_ONLY = {"agent": "agent", "system_prompt": "systemPrompt", "user": "user"}


def message_of(
    body: Mapping[str, Any], key_header: str | None, *, has_content: bool
) -> NewMessage:
    """The validated message; ``has_content`` False for another answer."""
    apart = {"clientTools", "toolChoice"}
    if has_content:
        apart.add("attachments")
    known = {name: value for name, value in body.items() if name not in apart}
    fields = validated(NewMessageBody if has_content else TurnOptionsBody, known)
    return NewMessage(
        content=fields.get("content"),
        attachments=attachments_of(body.get("attachments")) if has_content else (),
        on_busy=OnBusy(fields.get("onBusy", OnBusy.QUEUE)),
        allow_failover=fields.get("failover", "on") == "on",
        client_tools=client_tools_of(body.get("clientTools"), "clientTools"),
        tool_choice=tool_choice_of(body.get("toolChoice"), "toolChoice"),
        idempotency_key=idempotency_key(key_header),
    )


def make_session(
    principal: Principal, body: Mapping[str, Any], address: str | None
) -> Session:
    """A new session of the caller, as the body asks for it."""
    fields = validated(NewSessionBody, body)
    _require_session_fields(principal, fields)
    agent = fields.pop("agent", None)
    require_session_pace(principal, agent, address)
    return service.create_session(principal.caller, agent, fields)


def _require_session_fields(principal: Principal, fields: Mapping[str, Any]) -> None:
    """A visitor's session is what its embed says, whatever the browser asks."""
    if principal.kind != "visitor":
        return
    for name, wire_name in SERVER_ONLY.items():
        if name in fields:
            raise NotAllowed("A visitor may not set this.", param=wire_name)


def require_message_pace(
    principal: Principal, session_id: str, address: str | None
) -> None:
    """Count a message, or raise RateLimited."""
    caller = principal.caller
    require_pace(
        principal,
        Act.MESSAGE,
        address,
        lambda: service.agent_of_session(caller, session_id),
    )


def require_session_pace(
    principal: Principal, agent: str | None, address: str | None
) -> None:
    """Count a new session, or raise RateLimited."""
    caller = principal.caller
    require_pace(
        principal, Act.SESSION, address, lambda: service.agent_of_new(caller, agent)
    )
