"""What clients say in ``lantern.v1``, the socket's protocol."""

from __future__ import annotations

from typing import Annotated, Any, get_args

import msgspec

from sessions_app.domain.errors import BadRequest, UnknownField
from sessions_app.domain.text import require_storable, storable
from sessions_app.domain.tooling import TOOL_NAME
from sessions_app.wire.payload import camel

Json = dict[str, Any]

MAX_REQUEST_ID_LENGTH = 200
MAX_CALL_ID_LENGTH = 200


def _shape(required: list[str], **properties: Json) -> msgspec.Meta:
    """What the published schema says of an object; ``edge.tool_fields`` reads it."""
    schema = {"properties": properties, "required": required}
    return msgspec.Meta(extra_json_schema={**schema, "additionalProperties": False})


_TEXT: Json = {"type": "string"}
_FLAG: Json = {"type": "boolean"}
_CALL_ID: Json = {"type": "string", "minLength": 1, "maxLength": MAX_CALL_ID_LENGTH}

ToolJson = Annotated[
    Json,
    _shape(
        ["name"],
        name={"type": "string", "pattern": f"^{TOOL_NAME.pattern}$"},
        description=_TEXT,
        inputSchema={"type": "object"},
    ),
]
ChoiceJson = Annotated[
    Json,
    _shape(
        ["type"],
        type={"enum": ["auto", "none", "required", "tool"]},
        name=_TEXT,
    ),
]
ResultJson = Annotated[
    Json, _shape(["id", "content"], id=_CALL_ID, content=_TEXT, isError=_FLAG)
]
ApprovalJson = Annotated[Json, _shape(["id", "allow"], id=_CALL_ID, allow=_FLAG)]


class Frame(msgspec.Struct, rename=camel, kw_only=True):
    """A client's message; ``request_id`` is echoed in the answer."""

    request_id: str | None = None


class Start(Frame, tag="session.start"):
    """Begin a session with its first prompt; the rest counts for all its prompts.

    ``raw`` asks for the provider's own messages beside what is made of them. Visitors
    may not: the messages tell more than the reply, such as a model's reasoning.
    """

    prompt: str
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    tools: list[ToolJson] = []
    tool_choice: ChoiceJson | str | None = None
    raw: bool = False


class Prompt(Frame, tag="session.prompt"):
    """Go on with a session that this connection started and that is idle."""

    session_id: str
    prompt: str


class ToolResults(Frame, tag="session.tool_results"):
    """The results of all pending calls of a turn, together, in any order."""

    session_id: str
    results: list[ResultJson]


class Approve(Frame, tag="session.approve"):
    """Say of all calls that wait for a yes whether they may run."""

    session_id: str
    approvals: list[ApprovalJson]


class Cancel(Frame, tag="session.cancel"):
    """End the running or waiting turn; what was said stays."""

    session_id: str


class Close(Frame, tag="session.close"):
    """End the session and its turn; the transcript stays."""

    session_id: str


class Attach(Frame, tag="session.attach"):
    """Follow a stored session from a cursor, ``0-0`` for the beginning.

    Without one it begins with the running turn, or now.
    """

    session_id: str
    after: str | None = None


class Ping(Frame, tag="ping"):
    """Ask for a sign of life."""


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
