"""Tools that a client brings, and what it says about their use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from sessions_app.domain.errors import BadRequest
from sessions_app.domain.prompt import AUTO, ToolChoice, ToolSpec
from sessions_app.domain.tooling import TOOL_NAME
from sessions_app.edge.body import require_known
from sessions_app.store.progress import ToolResult
from sessions_app.wire.lantern_v1 import MAX_CALL_ID_LENGTH

MAX_TOOLS = 64
MAX_RESULTS = 16
MAX_DESCRIPTION_LENGTH = 4_096
MAX_TOOLS_BYTES = 65_536
CHOICES = ("auto", "none", "required", "tool")


def client_tools_of(value: Any, param: str) -> tuple[ToolSpec, ...]:
    """The tools of a message; BadRequest says what is wrong with them."""
    if value is None:
        return ()
    items = _list_of(value, param, MAX_TOOLS)
    if len(msgspec.json.encode(items)) > MAX_TOOLS_BYTES:
        raise BadRequest(f"Tools may have {MAX_TOOLS_BYTES} bytes in all.", param=param)
    specs = tuple(_spec(item, param) for item in items)
    if len({spec.name for spec in specs}) < len(specs):
        raise BadRequest("Two tools have the same name.", param=param)
    return specs


def _spec(item: Any, param: str) -> ToolSpec:
    fields = _object(item, param, ("name", "description", "inputSchema"))
    name, description = fields.get("name"), fields.get("description", "")
    schema = fields.get("inputSchema", {"type": "object", "properties": {}})
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise BadRequest(
            "A tool's name is 1 to 64 letters, digits, hyphens and underscores.",
            param=param,
        )
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION_LENGTH:
        raise BadRequest(
            f"A tool's description is text of at most {MAX_DESCRIPTION_LENGTH}"
            " characters.",
            param=param,
        )
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise BadRequest(
            "A tool's inputSchema is a JSON Schema of the type object.", param=param
        )
    return ToolSpec(name, description, {"type": "object", **schema})


def tool_choice_of(value: Any, param: str) -> ToolChoice:
    """A word such as ``"auto"``, or an object with ``type`` and ``name``."""
    if value is None:
        return AUTO
    fields = {"type": value} if isinstance(value, str) else value
    fields = _object(fields, param, ("type", "name"))
    mode, name = fields.get("type"), fields.get("name", "")
    is_named = mode == "tool"
    if mode not in CHOICES or not isinstance(name, str) or bool(name) != is_named:
        raise BadRequest(
            'toolChoice is "auto", "none", "required" or {"type": "tool", "name": …}.',
            param=param,
        )
    return ToolChoice(mode, name)


def tool_results_of(value: Any, param: str) -> list[ToolResult]:
    """The results of client tools, in any order."""
    results = []
    for item in _list_of(value, param, MAX_RESULTS):
        fields = _object(item, param, ("id", "content", "isError"))
        content, is_error = fields.get("content"), fields.get("isError", False)
        if not isinstance(content, str) or not isinstance(is_error, bool):
            raise BadRequest(
                "A result has a content that is text; isError is true or false.",
                param=param,
            )
        results.append(ToolResult(_call_id(fields, param), content, is_error))
    return results


def approvals_of(value: Any, param: str) -> dict[str, bool]:
    """Which calls are allowed, by id."""
    approvals = {}
    for item in _list_of(value, param, MAX_RESULTS):
        fields = _object(item, param, ("id", "allow"))
        if not isinstance(fields.get("allow"), bool):
            raise BadRequest("allow is true or false.", param=param)
        approvals[_call_id(fields, param)] = bool(fields["allow"])
    return approvals


def only_field(body: Mapping[str, Any], name: str) -> Any:
    """The one field of a body."""
    return _object(dict(body), name, (name,)).get(name)


def _call_id(fields: dict[str, Any], param: str) -> str:
    call_id = fields.get("id")
    if not isinstance(call_id, str) or not 1 <= len(call_id) <= MAX_CALL_ID_LENGTH:
        raise BadRequest("Each needs the id of its call.", param=param)
    return call_id


def _list_of(value: Any, param: str, longest: int) -> list[Any]:
    if not isinstance(value, list):
        raise BadRequest(f"{param} is a list.", param=param)
    if len(value) > longest:
        raise BadRequest(f"{param} has at most {longest} items.", param=param)
    return value


def _object(value: Any, param: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRequest(f"{param} holds objects.", param=param)
    require_known(sorted(value), known)
    return value
