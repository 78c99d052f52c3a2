from __future__ import annotations

import threading
from typing import Any, Literal

import pytest

from sessions_app.domain.tooling import ToolConfig, ToolContext
from sessions_app.tools.base import ToolError, ToolFault
from sessions_app.tools.python_tool import PythonTool, describe, tool

CONTEXT = ToolContext("sess_1", "tur_1", "call_1")
HERE = __name__


@tool
def find_order(
    number: int, context: ToolContext, state: Literal["open", "paid"] = "open"
) -> dict[str, Any]:
    """Find an order of the shop.

    More for the model.

    Args:
        number: As it stands on the bill.
        state (str): Which ones to look at.

    Returns:
        nothing: that matters here.
    """
    thread = threading.current_thread().name
    return {"n": number, "state": state, "for": context.session_id, "in": thread}


@tool
async def fail(reason: str) -> str:
    """Fail."""
    raise ToolError(reason)


def untyped(number) -> str:  # type: ignore[no-untyped-def]
    return str(number)


def of(name: str) -> PythonTool:
    return PythonTool.of(
        ToolConfig(name, "python", settings={"path": f"{HERE}:{name}"})
    )


def test_schema_comes_from_signature_and_docstring() -> None:
    spec = of("find_order").spec
    assert spec.description == "Find an order of the shop. More for the model."
    assert spec.input_schema["required"] == ["number"]
    assert spec.input_schema["additionalProperties"] is False
    assert spec.input_schema["properties"] == {
        "number": {"type": "integer", "description": "As it stands on the bill."},
        "state": {
            "enum": ["open", "paid"],
            "default": "open",
            "description": "Which ones to look at.",
        },
    }


async def test_function_runs_off_the_loop_with_its_context() -> None:
    result = await of("find_order").call({"number": 7}, CONTEXT)
    assert result.startswith('{"n":7,"state":"open","for":"sess_1","in":"tool"')


@pytest.mark.parametrize(
    "arguments",
    [{}, {"number": "7"}, {"number": 7, "state": "x"}, {"number": 7, "more": 1}],
)
async def test_arguments_that_do_not_fit_are_refused(arguments: Any) -> None:
    with pytest.raises(ToolError, match="do not fit"):
        await of("find_order").call(arguments, CONTEXT)


async def test_function_words_its_own_failure() -> None:
    with pytest.raises(ToolError, match="no stock"):
        await of("fail").call({"reason": "no stock"}, CONTEXT)


@pytest.mark.parametrize(
    "path", ["", "os", "os:", "no.such.module:f", f"{HERE}:missing", f"{HERE}:HERE"]
)
def test_path_that_leads_nowhere_is_a_fault(path: str) -> None:
    with pytest.raises(ToolFault):
        PythonTool.of(ToolConfig("x", "python", settings={"path": path}))


def test_parameter_without_a_type_is_a_fault() -> None:
    with pytest.raises(ToolFault, match="needs a type"):
        describe(untyped)
