"""The client's own tools over REST, with real adapters."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sessions_app.models import Provider
from sessions_app.providers.http import close_transports
from sessions_app.providers.registry import adapter_for
from sessions_app.store.db import in_thread
from tests.fakes.edge import Live
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.openai_events import DONE, call, calls, finish, text

FIXTURES = Path(__file__).parents[2] / "providers" / "fixtures" / "anthropic"
CALLS = (FIXTURES / "parallel_tool_use.sse").read_bytes()
WORDS = (FIXTURES / "thinking.sse").read_bytes()
TOOLS = [
    {"name": name, "description": "d", "inputSchema": {"type": "object"}}
    for name in ("add", "mul")
]


@pytest.fixture
async def upstream(live: Live) -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as upstream:
        yield upstream
        await close_transports()


async def speak(live: Live, upstream: FakeUpstream, kind: str) -> None:
    """Have the first provider be that upstream, of that kind."""
    place = {"base_url": upstream.base_url, "allow_private": True, "kind": kind}
    await in_thread(Provider.objects.filter(name="primary").update, **place)
    live.provider = adapter_for(kind)  # type: ignore[assignment]


async def asked_by(live: Live, posted: Any) -> list[Any]:
    """The events of a turn up to its wait."""
    path = f"{live.path}/events?after={posted['cursor']}"
    async with live.client.stream(path) as stream:
        return await stream.events(last="turn_awaiting_tools")


# C12, the other dialect: fragments of two calls alternate, with text before them.
async def test_interleaved_calls_are_answered_in_one_request(
    live: Live, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([CALLS]), Reply([WORDS]))
    await speak(live, upstream, "anthropic")
    posted = (await live.post("count", clientTools=TOOLS)).json
    events = await asked_by(live, posted)
    asked = [e.fields for e in events if e.name == "tool_call_requested"]
    assert [(e["callId"], e["name"], e["arguments"]) for e in asked] == [
        ("toolu_a", "add", {"x": 1}),
        ("toolu_b", "mul", {"y": 2}),
    ]
    results = [
        {"id": "toolu_b", "content": "two"},
        {"id": "toolu_a", "content": "one", "isError": True},
    ]
    path = f"{live.path}/turns/{posted['turnId']}/toolResults"
    await live.client.request("POST", path, json={"results": results})
    assert (await live.ended(posted["turnId"]))["status"] == "completed"
    assert len(upstream.requests) == 2
    *_, said, told = upstream.requests[1].json["messages"]
    uses = [block for block in said["content"] if block["type"] == "tool_use"]
    assert [(b["id"], b["name"], b["input"]) for b in uses] == [
        ("toolu_a", "add", {"x": 1}),
        ("toolu_b", "mul", {"y": 2}),
    ]
    assert (said["role"], told["role"]) == ("assistant", "user")
    assert [(b["type"], b["tool_use_id"]) for b in told["content"]] == [
        ("tool_result", "toolu_a"),
        ("tool_result", "toolu_b"),
    ]
    contents = [json.dumps(block["content"]) for block in told["content"]]
    assert ["one" in contents[0], "two" in contents[1]] == [True, True]


async def test_client_is_asked_for_sixteen_calls_and_no_more(
    live: Live, upstream: FakeUpstream
) -> None:
    entries = [call("{}", index=n, id=f"c{n}", name="add") for n in range(17)]
    upstream.enqueue(
        Reply([calls(*entries), finish("tool_calls"), DONE]),
        Reply([text("ok"), finish(), DONE]),
    )
    await speak(live, upstream, "openai")
    posted = (await live.post("count", clientTools=TOOLS)).json
    events = await asked_by(live, posted)
    asked = [e.fields["callId"] for e in events if e.name == "tool_call_requested"]
    failed = [e.fields["callId"] for e in events if e.name == "tool_call_failed"]
    assert (len(asked), failed) == (16, ["c16"])


async def test_result_of_a_client_is_cut_as_any_other(
    live: Live, upstream: FakeUpstream
) -> None:
    entry = call("{}", index=0, id="c", name="add")
    upstream.enqueue(
        Reply([calls(entry), finish("tool_calls"), DONE]),
        Reply([text("ok"), finish(), DONE]),
    )
    await speak(live, upstream, "openai")
    posted = (await live.post("count", clientTools=TOOLS)).json
    await asked_by(live, posted)
    results = [{"id": "c", "content": "é" * 100_000}]
    path = f"{live.path}/turns/{posted['turnId']}/toolResults"
    await live.client.request("POST", path, json={"results": results})
    await live.ended(posted["turnId"])
    told = upstream.requests[1].json["messages"][-1]["content"]
    assert told.startswith("é" * 32_768 + "\n[")
