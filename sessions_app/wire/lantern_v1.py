"""What clients say in ``lantern.v1``, the socket's protocol."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from sessions_app.domain.errors import BadRequest, UnknownField
from sessions_app.domain.text import require_storable, storable
from sessions_app.wire.payload import camel

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
    tool_choice: Json | str | None = None


class Prompt(Frame, tag="session.prompt"):
    session_id: str
    prompt: str


class ToolResults(Frame, tag="session.tool_results"):
    session_id: str
    results: list[Json]


class Approve(Frame, tag="session.approve"):
    session_id: str
    approvals: list[Json]


class Cancel(Frame, tag="session.cancel"):
    session_id: str


class Close(Frame, tag="session.close"):
    session_id: str


class Attach(Frame, tag="session.attach"):
    session_id: str
    after: str | None = None


class Ping(Frame, tag="ping"):
    pass


ClientFrame = Start | Prompt | ToolResults | Approve | Cancel | Close | Attach | Ping

FRAMES: dict[str, type[Frame]] = {
    str(kind.__struct_config__.tag): kind for kind in get_args(ClientFrame)
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
