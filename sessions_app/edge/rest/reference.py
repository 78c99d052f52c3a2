"""The page ``docs/reference/rest.md``, from the OpenAPI description."""

from __future__ import annotations

from typing import Any

from drf_spectacular.generators import SchemaGenerator

Json = dict[str, Any]

_HEAD = """\
# REST

Generated from the OpenAPI description, which a running server gives at `/v1/schema` and
shows at `/v1/docs`; renew it with `make docs`.

- Send `Authorization: Bearer lk_…` (an API key) or `lv_…` (a visitor token of the
  widget). The dashboard uses Django's session cookie with its CSRF token.
- Bodies are JSON objects of at most 1 MiB, whatever their content type says. A field or
  parameter that is not known is refused.
- Times are RFC 3339 UTC. A session that the caller may not see is 404, never 403.
- Every refusal is `{"error": {"code", "message", "param"?, "requestId"}}` with a
  fitting status; 429 and 503 carry `Retry-After`.
"""

_METHODS = ("get", "post", "patch", "delete")


def rest_reference() -> str:
    """The page: each call with its parameters, its body and its answers."""
    generator: Any = SchemaGenerator()  # type: ignore[no-untyped-call]
    schema: Json = generator.get_schema(request=None, public=True)
    schemas = schema["components"]["schemas"]
    parts = [_HEAD]
    for path, operations in sorted(schema["paths"].items()):
        for method in _METHODS:
            if method in operations:
                parts.append(_call(f"{method.upper()} {path}", operations[method]))
    parts.append("## Shapes\n")
    parts += [_shape(name, schemas[name]) for name in sorted(schemas)]
    return "\n".join(parts)


def _call(title: str, operation: Json) -> str:
    lines = [f"## `{title}`\n", _text(operation), ""]
    for parameter in operation.get("parameters", []):
        if parameter["in"] != "path":
            place, kind = parameter["in"], _kind(parameter["schema"])
            about = parameter["description"]
            lines.append(f"- {place} `{parameter['name']}`: {kind}. {about}")
    if body := operation.get("requestBody"):
        content = next(iter(body["content"].values()))
        lines.append(f"- body: {_kind(content['schema'])}")
    for status, answer in operation["responses"].items():
        if status != "default":
            lines.append(f"- answer {status}: {_answer(answer)}")
    return "\n".join(lines) + "\n"


def _text(operation: Json) -> str:
    return str(operation.get("description") or operation.get("summary", ""))


def _answer(answer: Json) -> str:
    for media_type, content in answer.get("content", {}).items():
        if media_type == "application/json":
            return _kind(content["schema"])
        return f"`{media_type}`. {answer['description']}"
    return "nothing"


def _shape(name: str, shape: Json) -> str:
    if values := shape.get("enum"):
        return f"### {name}\n\n" + ", ".join(f"`{value}`" for value in values) + "\n"
    required = shape.get("required", [])
    lines = [f"### {name}\n", "| field | is | required |", "|---|---|---|"]
    for field, kind in shape.get("properties", {}).items():
        mark = "yes" if field in required else ""
        lines.append(f"| `{field}` | {_kind(kind)} | {mark} |")
    return "\n".join(lines) + "\n"


def _kind(schema: Json) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("allOf", "oneOf", "anyOf"):
        if key in schema:
            return " or ".join(_kind(each) for each in schema[key])
    if values := schema.get("enum"):
        return ", ".join(f"`{value}`" for value in values)
    words = str(schema.get("type", "anything"))
    if words == "array":
        words = f"array of {_kind(schema['items'])}"
    if limit := schema.get("maxLength"):
        words += f", at most {limit} characters"
    if schema.get("nullable"):
        words += ", or null"
    return words
