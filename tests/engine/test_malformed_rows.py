"""A row that anybody may have written stops no turn of others, and ends its own."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.bus import get_bus
from sessions_app.engine.sweeper import sweep
from sessions_app.models import Agent, Attempt, Budget, Provider, Tool, Turn
from sessions_app.store import budgets, catalog
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.test_abandoned import leave
from tests.fakes.people import make_agent
from tests.fakes.scripted_provider import ScriptedProvider, says

BAD_LISTS: list[Any] = [
    5,
    [1],
    {"a": 1},
    ["x"],
    [None],
    "primary/gpt-x",
    ["/"],
    ["primary/"],
    [["primary/gpt-x"]],
]


async def change(engine: Engine, **fields: Any) -> None:
    """As fixtures and older rows do it: past every form."""
    await in_thread(Agent.objects.filter(pk=engine.agent.pk).update, **fields)
    for kept in (catalog.plans, catalog.tools, catalog.accounts):
        kept.forget()


async def turn_of(turn_id: str) -> Turn:
    return await in_thread(Turn.objects.get, pk=turn_id)


# An agent's malformed route or tools stopped the turns of all agents.
@pytest.mark.parametrize("bad", BAD_LISTS, ids=str)
async def test_others_run_beside_a_malformed_agent(engine: Engine, bad: Any) -> None:
    await in_thread(make_agent, "other", route=bad, tools=bad)
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert "message_completed" in [kind for kind, _ in events]


@pytest.mark.parametrize("bad", BAD_LISTS, ids=str)
async def test_turn_of_a_malformed_route_fails_once(engine: Engine, bad: Any) -> None:
    await change(engine, route=bad)
    events = await engine.run(ScriptedProvider())
    assert [kind for kind, _ in events] == [
        "session.status_running",
        "turn_started",
        "turn_failed",
        "agent.message",
        "session.status_idle",
    ]
    assert events[2][1]["code"] == "provider_unreachable"


async def test_sound_steps_of_a_route_are_used(engine: Engine) -> None:
    await change(engine, route=[1, "x", "primary/gpt-x"], tools=[None])
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert "message_completed" in [kind for kind, _ in events]


async def test_turn_that_cannot_be_read_is_ended(engine: Engine) -> None:
    host = await engine.host(ScriptedProvider())
    posted = await engine.post()
    later = await engine.post("again")
    update = Turn.objects.filter(pk=posted.turn_id).update
    await in_thread(update, client_tools=[5], next_n=1)
    await in_thread(Turn.objects.filter(pk=later.turn_id).update, tool_choice={"x": 1})
    host.begin(posted.turn_id)
    for each in (posted, later):
        events = await engine.events(each)
        assert [kind for kind, _ in events][2] == "turn_failed"
        assert events[2][1]["code"] == "internal"
        assert (await turn_of(each.turn_id)).state == "failed"
    assert await sweep(get_bus(), None) == []


async def test_unreadable_turn_that_showed_text_ends_in_an_error(
    engine: Engine,
) -> None:
    host = await engine.host(ScriptedProvider())
    posted = await engine.post()
    update = Turn.objects.filter(pk=posted.turn_id).update
    await in_thread(update, shown_texts=5, has_deltas=True, next_n=4, fence=1)
    host.begin(posted.turn_id)
    events = await engine.events(posted)
    assert [kind for kind, _ in events] == ["message_error", "session.status_idle"]
    assert (await turn_of(posted.turn_id)).terminal_n == 4


async def test_sweep_ends_what_a_malformed_route_left(engine: Engine) -> None:
    posted = await engine.post()
    await leave(posted, has_deltas=True)
    await change(engine, route=5)
    await sweep(get_bus(), None)
    assert (await turn_of(posted.turn_id)).error_code == "worker_lost"
    assert not await in_thread(Attempt.objects.filter(turn=posted.turn_id).exists)


@pytest.mark.parametrize(
    "fields", [{"settings": 5}, {"headers": "no json"}, {"headers": '{"a": 1}'}]
)
async def test_others_run_beside_a_malformed_tool(
    engine: Engine, fields: dict[str, Any]
) -> None:
    await in_thread(Tool.objects.create, name="weather", **fields)
    await change(engine, tools=["weather"])
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert "message_completed" in [kind for kind, _ in events]


@pytest.mark.parametrize(
    "settings", [{"url": "https://a.example", "query": 5}, {"input_schema": 5}]
)
async def test_malformed_setting_costs_its_tool_alone(
    engine: Engine, settings: dict[str, Any]
) -> None:
    await in_thread(Tool.objects.create, name="weather", settings=settings)
    await change(engine, tools=["weather"])
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert "message_completed" in [kind for kind, _ in events]


@pytest.mark.parametrize("bad", [5, "/bin/true", ["/bin/true", 5]])
async def test_malformed_command_is_none_at_all(engine: Engine, bad: Any) -> None:
    await in_thread(Provider.objects.create, name="own", kind="exec", command=bad)
    events = await engine.run(ScriptedProvider(says("Hi")))
    assert "message_completed" in [kind for kind, _ in events]
    (own,) = await in_thread(catalog.candidates_of, ["own/x"])
    assert own.provider.command == ()


async def test_budget_of_no_period_counts_for_ever(engine: Engine) -> None:
    row = Budget(on="session", period="week", tokens=0)
    await in_thread(row.save)
    (limit,) = budgets.limits_of(row)
    assert limit.period == "total"
