"""The frames of the ``lantern.v1`` socket protocol."""

from __future__ import annotations

from typing import Any

import msgspec

from sessions_app.domain.errors import BadRequest, UnknownField
from sessions_app.domain.text import require_storable, storable
from sessions_app.wire.payload import Entry, camel, encode_json

Json = dict[str, Any]

MAX_REQUEST_ID_LENGTH = 200


class Frame(msgspec.Struct, rename=camel, kw_only=True):
    """A client's message; ``request_id`` is echoed in the answer."""

    request_id: str | None = None


class Start(Frame, tag="session.start"):
    prompt: str
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    tools: list[Json] = []
    tool_choice: Json | None = None


class Prompt(Frame, tag="session.prompt"):
    session_id: str
    prompt: str


class Cancel(Frame, tag="session.cancel"):
    session_id: str


class Close(Frame, tag="session.close"):
    session_id: str


class Attach(Frame, tag="session.attach"):
    session_id: str
    after: str | None = None


class Ping(Frame, tag="ping"):
    pass


ClientFrame = Start | Prompt | Cancel | Close | Attach | Ping

FRAMES: dict[str, type[Frame]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (Start, Prompt, Cancel, Close, Attach, Ping)
}


def request_id_of(value: object) -> str | None:
    """The request id of a message, even of a bad one."""
    found = value.get("requestId") if isinstance(value, dict) else None
    is_fit = isinstance(found, str) and len(found) <= MAX_REQUEST_ID_LENGTH
    return found if is_fit and storable(str(found)) == found else None


def decode_json(text: str) -> object:
    """The JSON of a message; BadRequest if it is none."""
    try:
        value: object = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadRequest("The message is not valid JSON.") from error
    except RecursionError as error:
        raise BadRequest("The message is nested too deeply.") from error
    return value


def read_frame(value: object) -> ClientFrame:
    """A client's message; BadRequest says what is wrong with it."""
    if not isinstance(value, dict):
        raise BadRequest("A message is a JSON object.")
    require_storable(value)
    if value.get("requestId") is not None and request_id_of(value) is None:
        raise BadRequest(
            f"A requestId is text of at most {MAX_REQUEST_ID_LENGTH} characters.",
            param="requestId",
        )
    kind = FRAMES.get(str(value.get("type")))
    if kind is None:
        raise BadRequest("There is no message of this type.", param="type")
    unknown = sorted(set(value) - {"type", *kind.__struct_encode_fields__})
    if unknown:
        raise UnknownField(
            f"The field {unknown[0][:100]!r} is not known.", param=unknown[0][:100]
        )
    try:
        frame: Any = msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"The message is not valid: {error}.") from error
    return frame  # type: ignore[no-any-return]


def frame_text(kind: str, **fields: Any) -> str:
    """A server's message; fields that are None are left out."""
    known = {name: value for name, value in fields.items() if value is not None}
    return encode_json({"type": kind, **known}).decode()


def event_frame(entry: Entry) -> str:
    """An event as it is, for an attached session."""
    body = msgspec.Raw(entry.body)
    return frame_text("event", id=str(entry.cursor), name=entry.kind, data=body)


def turn_frame(entry: Entry, request_ids: dict[str, str]) -> str | None:
    """An event in the words of ``lantern.v1``; None if it has none there.

    ``request_ids`` gives the request that a turn answers; it is echoed once.
    """
    event: Json = msgspec.json.decode(entry.body)
    ids = {"sessionId": event["sessionId"], "turnId": event.get("turnId")}
    match entry.kind:
        case "session.status_running":
            return frame_text("session.state", **ids, state="running")
        case "session.status_idle":
            return frame_text("session.state", **ids, state="idle")
        case "turn_started":
            request_id = request_ids.pop(event["turnId"], None)
            return frame_text("turn.started", **ids, requestId=request_id)
        case "message_delta":
            return frame_text(
                "output.delta", **ids, seq=event["seq"], text=event["delta"]
            )
        case "message_completed":
            is_cancelled = event["stopReason"] == "cancelled"
            return frame_text(
                "turn.completed",
                **ids,
                status="cancelled" if is_cancelled else "completed",
                text=event["text"],
                usage=event["usage"],
            )
        case "message_error" | "turn_failed":
            failure = {"code": event["code"], "message": event["error"]}
            return frame_text("turn.completed", **ids, status="failed", error=failure)
    return None
