"""The published schema of ``lantern.v1`` says what the server takes."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sessions_app.domain.errors import LanternError
from sessions_app.edge.tool_fields import (
    approvals_of,
    client_tools_of,
    tool_choice_of,
    tool_results_of,
)
from sessions_app.wire.lantern_v1 import Approve, Start, ToolResults, read_frame
from sessions_app.wire.lantern_v1_server import socket_schema

CLIENT = Draft202012Validator(
    {**socket_schema(), "anyOf": [{"$ref": "#/$defs/ClientMessage"}]}
)
TOOL = {"name": "weather", "description": "d", "inputSchema": {"type": "object"}}


def start(**fields: Any) -> dict[str, Any]:
    return {"type": "session.start", "prompt": "x", **fields}


def results(*items: Any) -> dict[str, Any]:
    return {"type": "session.tool_results", "sessionId": "s", "results": [*items]}


def approvals(*items: Any) -> dict[str, Any]:
    return {"type": "session.approve", "sessionId": "s", "approvals": [*items]}


FIT = [
    start(requestId="start-1", provider="codex"),
    start(tools=[TOOL], toolChoice={"type": "auto"}),
    start(tools=[{"name": "t"}], toolChoice={"type": "tool", "name": "t"}),
    start(toolChoice="required"),
    start(raw=True),
    results({"id": "c", "content": '{"temperature":21}'}),
    results({"id": "c", "content": "", "isError": True}),
    approvals({"id": "c", "allow": False}),
    {"type": "session.prompt", "sessionId": "s", "prompt": "Explain"},
    {"type": "session.cancel", "sessionId": "s"},
    {"type": "session.close", "sessionId": "s"},
    {"type": "session.attach", "sessionId": "s", "after": "0-0"},
    {"type": "ping", "requestId": None},
]
UNFIT = [
    start(tools=["weather"]),
    start(tools=[{"name": "no spaces"}]),
    start(tools=[{**TOOL, "more": 1}]),
    start(tools=[{**TOOL, "inputSchema": "object"}]),
    start(toolChoice={"type": "never"}),
    start(toolChoice={}),
    start(raw="yes"),
    results({"id": "c"}),
    results({"id": "", "content": "x"}),
    results({"id": "c" * 201, "content": "x"}),
    results({"id": "c", "content": 7}),
    results({"id": "c", "content": "x", "isError": "no"}),
    approvals({"id": "c", "allow": "yes"}),
    approvals({"id": "c"}),
    {"type": "session.cancel"},
    {"type": "nothing"},
]


def is_taken(message: dict[str, Any]) -> bool:
    """Whether the server's own reading takes the message."""
    try:
        frame = read_frame(message)
        if isinstance(frame, Start):
            client_tools_of(frame.tools, "tools")
            tool_choice_of(frame.tool_choice, "toolChoice")
        elif isinstance(frame, ToolResults):
            tool_results_of(frame.results, "results")
        elif isinstance(frame, Approve):
            approvals_of(frame.approvals, "approvals")
    except LanternError:
        return False
    return True


@pytest.mark.parametrize("message", FIT, ids=str)
def test_fit_message_is_in_schema_and_taken(message: dict[str, Any]) -> None:
    assert (CLIENT.is_valid(message), is_taken(message)) == (True, True)


@pytest.mark.parametrize("message", UNFIT, ids=str)
def test_unfit_message_is_in_neither(message: dict[str, Any]) -> None:
    assert (CLIENT.is_valid(message), is_taken(message)) == (False, False)
