"""The reference page of ``lantern.v1``, written from its published schema."""

from __future__ import annotations

import inspect
from typing import Any

from sessions_app.wire.lantern_v1 import Json
from sessions_app.wire.lantern_v1_server import socket_schema

_HEAD = """\
# The socket: `lantern.v1`

One WebSocket at `/v1/socket` keeps any number of conversations, 32 at a time. Offer the
subprotocols `lantern.v1` and `lantern.auth.<token>`, the token in base64url without
padding; a server may send `Authorization: Bearer <token>` instead. A refused token or
`Origin` is answered 403, before the upgrade. `hello` comes first.

Messages are JSON objects with a `type`. A `requestId` (text, up to 200 characters) is
echoed in the answer, that of a prompt in its `turn.started`. A message that does not
fit gets an `error`, and the socket stays open. A binary message closes it with 1003,
one over 1 MiB with 1009. A server that is being restarted closes idle sockets with
1012.

Each message but `ping` is judged by the rights that the credential has then. Once it is
revoked, has run out, or sees other sessions than before, the message gets an `error`
(`unauthorized`, for an origin that was taken off the list `forbidden_origin`), and the
socket is closed with 1008. One that only listens is closed so within about a minute,
event streams over HTTP end.

The connection that started a session owns it: no other may write to it over a socket,
and closing the socket cancels its turn and closes it. The transcript stays. A session
that was only attached is not touched.

A turn that needs its client sends `tool.call` for each call, then `session.state` with
`awaiting_tools`, which says that all calls were named. Send their results together,
within ten minutes (`LANTERN_TOOL_WAIT_S`); an error result (`isError`) is told to the
model. `tool.approval` names calls that the server runs once they are allowed. A
`toolChoice` that forces a call counts for the first round of a turn.

A start with `raw` gets the provider's own message, decoded, beside what is made of it:
on `output.delta` the event with the text, on `tool.call` the event that opened it, and
on `turn.completed` the event that said why the reply ended; each time the whole answer
where it did not stream. Its form is the provider's. The built-in demo and models that
speak plain text have none. One over 64 KB is left out, and so are all after 4 MB of a
turn. They go to the connection that asked and to no other reader; visitors may not ask.

`GET /v1/socket/schema` is the JSON Schema of all messages. Ignore messages and keys
that you do not know: there will be more.

This page is generated: `make docs`.
"""


def socket_reference() -> str:
    """The page as Markdown."""
    shapes: Json = socket_schema()["$defs"]
    parts = [_HEAD]
    named = {"ClientMessage", "ServerMessage"}
    for name, title in (
        ("ClientMessage", "Client to server"),
        ("ServerMessage", "Server to client"),
    ):
        parts.append(f"## {title}\n")
        for choice in shapes[name]["anyOf"]:
            kind = _name_of(choice)
            named.add(kind)
            shape = shapes[kind]
            tag = shape["properties"]["type"]["enum"][0]
            parts.append(_section(f"`{tag}`", shape))
    parts.append("## Objects\n")
    for kind in sorted(set(shapes) - named):
        parts.append(_section(kind, shapes[kind]))
    return "\n".join(parts)


def _name_of(reference: Json) -> str:
    return str(reference["$ref"]).rpartition("/")[2]


def _section(title: str, shape: Json) -> str:
    told = inspect.cleandoc(shape.get("description", ""))
    required = shape.get("required", [])
    rows = [
        f"| `{key}` | {_value(value)} | {'yes' if key in required else ''} |"
        for key, value in shape["properties"].items()
        if key != "type"
    ]
    table = ["| key | value | always |", "|---|---|---|", *rows, ""] if rows else []
    return "\n".join([f"### {title}\n", *([told, ""] if told else []), *table])


def _value(value: Json) -> str:
    if "$ref" in value:
        name = _name_of(value)
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        inner = [each for each in value["anyOf"] if each != {"type": "null"}]
        return " or ".join(map(_value, inner))
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    if value.get("type") == "array":
        return f"list of {_value(value['items'])}"
    if "properties" in value:
        return "{" + ", ".join(_key(value, key) for key in value["properties"]) + "}"
    return _WORDS[value["type"]]


def _key(value: Json, key: str) -> str:
    return f"`{key}`" if key in value["required"] else f"`{key}`?"


_WORDS: dict[Any, str] = {
    "string": "string",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
}
