"""Tools that are Python functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

import msgspec

from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.tooling import TOOL_NAME, ToolConfig, ToolContext
from sessions_app.tools.base import ToolError, ToolFault
from sessions_app.tools.threads import AllHeld, threads

F = TypeVar("F", bound=Callable[..., Any])

_ATTRIBUTE = "__lantern_tool__"
_ARGUMENT = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.+)$")


@dataclass(frozen=True, slots=True)
class Described:
    """What a function tells of itself; ``arguments`` is a struct of its parameters."""

    name: str
    description: str
    input_schema: dict[str, Any]
    arguments: type[msgspec.Struct]
    context_name: str | None


def tool(function: F) -> F:
    """Make a function a tool: name, description and schema come from it.

    The description is the docstring's beginning, those of the parameters are its
    ``Args:``. A parameter annotated ``ToolContext`` says for whom it is called and is
    not shown to the model. Raises ToolFault where an annotation is missing or has no
    JSON Schema.
    """
    setattr(function, _ATTRIBUTE, describe(function))
    return function


def describe(function: Callable[..., Any]) -> Described:
    """See ``tool``."""
    name = getattr(function, "__name__", "")
    if not TOOL_NAME.fullmatch(name):
        raise ToolFault(f"{name!r} cannot be the name of a tool.")
    about, argument_texts = _read_docstring(inspect.getdoc(function) or "")
    hints = get_type_hints(function, include_extras=True)
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in hints or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
            parameter.POSITIONAL_ONLY,
        ):
            raise ToolFault(f"{name}: the parameter {parameter.name} needs a type.")
        hint = hints[parameter.name]
        if hint is ToolContext:
            context_name = parameter.name
            continue
        text = argument_texts.get(parameter.name)
        if text and get_origin(hint) is not Annotated:
            hint = Annotated[hint, msgspec.Meta(description=text)]
        if parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, parameter.default))
    try:
        struct = msgspec.defstruct(
            name, fields, kw_only=True, forbid_unknown_fields=True
        )
        schema = _inlined(msgspec.json.schema(struct))
    except TypeError as error:
        raise ToolFault(f"{name}: {error}") from error
    return Described(name, about, schema, struct, context_name)


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    about, _, rest = text.partition("\nArgs:\n")
    arguments: dict[str, str] = {}
    for line in rest.splitlines():
        if line.strip() and not line.startswith(" "):
            break
        if found := _ARGUMENT.match(line):
            arguments[found[1]] = found[2].strip()
    return " ".join(about.split()), arguments


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The root as an object itself: providers want no reference there."""
    definitions = schema.get("$defs", {})
    root = definitions.pop(schema["$ref"].rpartition("/")[2])
    root.pop("title", None)
    return {**root, "$defs": definitions} if definitions else root


@dataclass(frozen=True, slots=True)
class PythonTool:
    """Runs a function; a plain one off the event loop."""

    function: Callable[..., Any]
    described: Described
    spec: ToolSpec
    needs_approval: bool = False

    @classmethod
    def of(cls, config: ToolConfig) -> PythonTool:
        """The function at the config's path; ToolFault if there is none."""
        function = load(str(config.settings.get("path", "")))
        described = getattr(function, _ATTRIBUTE, None) or describe(function)
        description = config.description or described.description
        spec = ToolSpec(config.name, description, described.input_schema)
        return cls(function, described, spec, config.needs_approval)

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        described = self.described
        try:
            values = msgspec.convert(arguments, described.arguments, strict=True)
        except msgspec.ValidationError as error:
            raise ToolError(f"The arguments do not fit: {error}.") from error
        keywords = {
            name: getattr(values, name)
            for name in described.arguments.__struct_fields__
        }
        if described.context_name is not None:
            keywords[described.context_name] = context
        return _as_text(await _run(self.function, keywords))


async def _run(function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**keywords)
    try:
        return await threads().run(partial(function, **keywords))
    except AllHeld as error:
        raise ToolError("Too many earlier calls have not returned.") from error


def _as_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    return msgspec.json.encode(result, enc_hook=str).decode()


def load(path: str) -> Callable[..., Any]:
    """The function at ``package.module:function``; ToolFault if there is none."""
    module, colon, name = path.partition(":")
    if not module or not colon or not name:
        raise ToolFault("path must be of the form package.module:function.")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ToolFault(f"{path} cannot be imported: {error}.") from error
    if not callable(found):
        raise ToolFault(f"{path} is not a function.")
    function: Callable[..., Any] = found
    return function
