"""What a tool is."""

from __future__ import annotations

from typing import Any, Protocol

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry

from sessions_app.domain.prompt import ToolSpec
from sessions_app.domain.tooling import ToolContext

MAX_FAULT_LENGTH = 300
SCHEMA = "input_schema"


class ToolError(Exception):
    """A tool failed; the text is for the model and for clients."""


class ToolFault(ValueError):
    """A tool is set up wrongly; the text is a sentence for the operator.

    ``setting`` names what is to be written otherwise, if it is one.
    """

    def __init__(self, text: str, setting: str = "") -> None:
        super().__init__(text)
        self.setting = setting


class Tool(Protocol):
    """Something a model may ask for."""

    @property
    def spec(self) -> ToolSpec:
        """How it is offered to the model."""
        ...

    @property
    def needs_approval(self) -> bool:
        """Whether somebody says yes before each call."""
        ...

    async def call(self, arguments: dict[str, Any], context: ToolContext) -> str:
        """Run it; the result is text for the model. Raises ToolError."""
        ...


def check_schema(schema: Any) -> None:
    """ToolFault unless it is a JSON Schema for an object."""
    if not isinstance(schema, dict):
        raise ToolFault("input_schema must be a JSON Schema.", SCHEMA)
    if schema.get("type", "object") != "object":
        raise ToolFault("input_schema must be of the type object.", SCHEMA)
    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError) as error:
        fault = getattr(error, "message", "it is nested too deeply")
        raise ToolFault(f"input_schema is no JSON Schema: {fault}.", SCHEMA) from error


def check_arguments(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    """ToolError with what is wrong, for the model to mend."""
    # An empty registry: a reference to elsewhere would be fetched otherwise.
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        fault = next(validator.iter_errors(arguments), None)
    except Exception as error:
        raise ToolError("The tool's schema cannot be used.") from error
    if fault is not None:
        raise ToolError(f"The arguments do not fit: {_sentence(fault)}")


def _sentence(fault: ValidationError) -> str:
    place = "/".join(str(step) for step in fault.absolute_path)
    text = f"{place}: {fault.message}" if place else fault.message
    return text[:MAX_FAULT_LENGTH] + "."
