from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sessions_app.domain.tooling import ToolConfig, ToolContext
from sessions_app.outbound.client import Answer, OutboundError, Request
from sessions_app.tools.base import ToolError, ToolFault
from sessions_app.tools.http_tool import HttpTool

CONTEXT = ToolContext("sess_1", "tur_1", "call_1")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


class Tried:
    """An HTTP tool whose requests go nowhere."""

    def __init__(self, answer: Answer | None = None, **changes: Any) -> None:
        headers = changes.pop("headers", {})
        settings = {"url": "https://api.example/w/{city}", "input_schema": SCHEMA}
        config = ToolConfig("weather", "http", "", {**settings, **changes}, headers)
        made = HttpTool.of(config)
        self.tool = HttpTool(
            *(getattr(made, name) for name in made.__slots__[:-1]), fetch=self._fetch
        )
        self._answer = answer or Answer(200, "text/plain", b"sunny", False)
        self.requests: list[Request] = []

    async def _fetch(self, request: Request, **_: Any) -> Answer:
        self.requests.append(request)
        if self._answer.status == 0:
            raise OutboundError("10.0.0.7 refused the connection")
        return self._answer

    async def __call__(self, **arguments: Any) -> str:
        return await self.tool.call(arguments, CONTEXT)


async def test_rest_of_a_get_goes_to_the_query() -> None:
    tried = Tried()
    assert await tried(city="Köln/Süd", days=2) == "sunny"
    url = "https://api.example/w/K%C3%B6ln%2FS%C3%BCd?days=2"
    assert (tried.requests[0].url, tried.requests[0].body) == (url, None)


async def test_rest_of_a_post_goes_to_a_json_body() -> None:
    tried = Tried(method="POST")
    await tried(city="Rome", days=2)
    assert msgspec.json.decode(tried.requests[0].body or b"") == {"days": 2}
    assert tried.requests[0].headers["Content-Type"] == "application/json"


async def test_body_template_keeps_the_types_of_lone_places() -> None:
    body = {"where": "in {city}", "n": ["{days}"], "fixed": True}
    tried = Tried(method="POST", url="https://api.example/", body=body)
    await tried(city="Rome", days=2)
    sent = msgspec.json.decode(tried.requests[0].body or b"")
    assert sent == {"where": "in Rome", "n": [2], "fixed": True}


async def test_query_and_headers_are_templates_too() -> None:
    headers = {"Authorization": "Bearer s3cret", "X-City": "{city}"}
    tried = Tried(
        url="https://api.example/w?u=c", query={"q": "{city}"}, headers=headers
    )
    await tried(city="a&b=c")
    assert tried.requests[0].url == "https://api.example/w?u=c&q=a%26b%3Dc"
    assert tried.requests[0].headers["Authorization"] == "Bearer s3cret"
    assert tried.requests[0].headers["X-City"] == "a&b=c"


@pytest.mark.parametrize(
    "arguments",
    [{}, {"city": 7}, {"city": "x", "days": "2"}, {"city": ["x"]}],
)
async def test_arguments_that_do_not_fit_are_not_sent(arguments: Any) -> None:
    tried = Tried()
    with pytest.raises(ToolError, match="do not fit"):
        await tried(**arguments)
    assert tried.requests == []


@pytest.mark.parametrize("city", ["..", ".", ""])
async def test_argument_cannot_climb_the_path(city: str) -> None:
    tried = Tried()
    with pytest.raises(ToolError):
        await tried(city=city)
    assert tried.requests == []


async def test_argument_cannot_add_a_header() -> None:
    tried = Tried(headers={"X-City": "{city}"})
    with pytest.raises(ToolError):
        await tried(city="x\r\nHost: evil")
    assert tried.requests == []


async def test_error_names_no_host_inside() -> None:
    with pytest.raises(ToolError) as error:
        await Tried(Answer(0, "", b"", False))(city="x")
    assert str(error.value) == "The tool could not be reached."


async def test_refusal_tells_its_status() -> None:
    with pytest.raises(ToolError, match="status 404: no such city"):
        await Tried(Answer(404, "", b"no such city", False))(city="x")


@pytest.mark.parametrize(
    "changes",
    [
        {"url": "http://127.0.0.1/"},
        {"url": "https://{host}/"},
        {"url": "ftp://example.com/"},
        {"url": ""},
        {"method": "TRACE"},
        {"input_schema": {"type": "array"}},
        {"input_schema": {"type": "object", "properties": 7}},
        {"headers": {"X Y": "z"}},
        {"headers": {"X": "a\nb"}},
    ],
)
def test_tool_that_cannot_work_is_a_fault(changes: Any) -> None:
    with pytest.raises(ToolFault):
        Tried(**changes)


# A reference to elsewhere would be fetched by the validator, past every check.
async def test_schema_with_a_foreign_reference_fetches_nothing() -> None:
    schema = {"type": "object", "properties": {"city": {"$ref": "http://127.0.0.1/s"}}}
    with pytest.raises(ToolError, match="schema cannot be used"):
        await Tried(input_schema=schema)(city="x")
