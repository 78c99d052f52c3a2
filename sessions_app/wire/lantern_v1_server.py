"""What the server says in ``lantern.v1``: frames, and the schema of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from sessions_app.wire.lantern_v1 import ClientFrame, Json
from sessions_app.wire.payload import Entry, camel, encode_json

RawJson = Annotated[
    Json,
    msgspec.Meta(description="The provider's own message, if the start asked for it."),
]
State = Literal["running", "idle", "awaiting_tools", "closed"]


class Frame(msgspec.Struct, rename=camel, kw_only=True, omit_defaults=True):
    """A message of the server; what is null is left out."""


class SessionRef(msgspec.Struct):
    id: str
    state: State


class Call(msgspec.Struct):
    id: str
    name: str
    arguments: Json


class UsageOfTurn(msgspec.Struct, rename=camel):
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    cached_tokens_in: int
    reasoning_tokens: int
    estimated: bool


class Failure(msgspec.Struct):
    code: str
    message: str


class Hello(Frame, tag="hello"):
    """The first message: what this caller may start."""

    protocol: str
    agents: list[str]
    providers: list[str]
    models: list[str]


class SessionStarted(Frame, tag="session.started"):
    """The session stands; its turn follows."""

    session: SessionRef
    request_id: str | None = None


class SessionState(Frame, tag="session.state"):
    """What the session is doing, also as the answer to most requests."""

    session_id: str
    state: State
    turn_id: str | None = None
    request_id: str | None = None


class TurnStarted(Frame, tag="turn.started"):
    """The model is about to be asked."""

    session_id: str
    turn_id: str
    request_id: str | None = None


class OutputDelta(Frame, tag="output.delta"):
    """One text fragment; ``seq`` starts at 1 in each turn and has no gaps."""

    session_id: str
    turn_id: str
    seq: int
    text: str
    raw: RawJson | None = None


class ToolCall(Frame, tag="tool.call"):
    """The client is to run this call and to send its result."""

    session_id: str
    turn_id: str
    call: Call
    raw: RawJson | None = None


class ToolApproval(Frame, tag="tool.approval"):
    """The server runs this call once the client has allowed it."""

    session_id: str
    turn_id: str
    call: Call


class TurnCompleted(Frame, tag="turn.completed"):
    """The end of a turn, exactly once; ``text`` is the whole reply.

    It replaces what the deltas said; of a failed turn they are void.
    """

    session_id: str
    turn_id: str
    status: Literal["completed", "cancelled", "failed"]
    text: str | None = None
    usage: UsageOfTurn | None = None
    error: Failure | None = None
    raw: RawJson | None = None


class Event(Frame, tag="event"):
    """An event of an attached session, as the event stream has it."""

    id: str
    name: str
    data: Json


class Pong(Frame, tag="pong"):
    """The sign of life."""

    request_id: str | None = None


class Error(Frame, tag="error"):
    """A message was refused; the socket stays open."""

    code: str
    message: str
    request_id: str | None = None


ServerFrame = (
    Hello
    | SessionStarted
    | SessionState
    | TurnStarted
    | OutputDelta
    | ToolCall
    | ToolApproval
    | TurnCompleted
    | Event
    | Pong
    | Error
)


def text_of(frame: ServerFrame) -> str:
    """The frame as it is sent."""
    return encode_json(frame).decode()


def event_text(entry: Entry) -> str:
    """An event as it is, for an attached session; its data are encoded already."""
    head = encode_json({"type": "event", "id": str(entry.cursor), "name": entry.kind})
    return (head[:-1] + b',"data":%b}' % entry.body).decode()


def turn_text(entry: Entry, request_ids: dict[str, str]) -> str | None:
    """An event in the words of ``lantern.v1``; None if it has none there.

    ``request_ids`` gives the request that a turn answers; it is echoed once.
    """
    frame = _turn_frame(entry.kind, msgspec.json.decode(entry.body), request_ids)
    if frame is None:
        return None
    if entry.raw and isinstance(frame, OutputDelta | ToolCall | TurnCompleted):
        frame.raw = msgspec.json.decode(entry.raw)
    return text_of(frame)


def _turn_frame(
    kind: str, event: Mapping[str, Any], request_ids: dict[str, str]
) -> ServerFrame | None:
    session_id, turn_id = event["sessionId"], event.get("turnId", "")
    match kind:
        case "session.status_running":
            return SessionState(session_id=session_id, state="running")
        case "session.status_idle":
            return SessionState(session_id=session_id, state="idle")
        case "turn_awaiting_tools":
            return SessionState(
                session_id=session_id, turn_id=turn_id, state="awaiting_tools"
            )
        case "turn_started":
            return TurnStarted(
                session_id=session_id,
                turn_id=turn_id,
                request_id=request_ids.pop(turn_id, None),
            )
        case "message_delta":
            return OutputDelta(
                session_id=session_id,
                turn_id=turn_id,
                seq=event["seq"],
                text=event["delta"],
            )
        case "tool_call_requested" | "tool_approval_requested":
            call = Call(event["callId"], event["name"], event["arguments"])
            is_own = kind == "tool_call_requested"
            frame = ToolCall if is_own else ToolApproval
            return frame(session_id=session_id, turn_id=turn_id, call=call)
        case "message_completed" | "message_error" | "turn_failed":
            return _end(kind, event)
    return None


def _end(kind: str, event: Mapping[str, Any]) -> TurnCompleted:
    session_id, turn_id = event["sessionId"], event["turnId"]
    if kind != "message_completed":
        return TurnCompleted(
            session_id=session_id,
            turn_id=turn_id,
            status="failed",
            error=Failure(event["code"], event["error"]),
        )
    is_cancelled = event["stopReason"] == "cancelled"
    return TurnCompleted(
        session_id=session_id,
        turn_id=turn_id,
        status="cancelled" if is_cancelled else "completed",
        text=event["text"],
        usage=msgspec.convert(event["usage"], UsageOfTurn),
    )


def socket_schema() -> dict[str, Any]:
    """JSON Schema of every message in both directions."""
    (client, server), definitions = msgspec.json.schema_components(
        [ClientFrame, ServerFrame], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lantern.v1",
        "description": "Messages of the socket at /v1/socket, one JSON object each.",
        "anyOf": [{"$ref": "#/$defs/ClientMessage"}, {"$ref": "#/$defs/ServerMessage"}],
        "$defs": {"ClientMessage": client, "ServerMessage": server, **definitions},
    }
