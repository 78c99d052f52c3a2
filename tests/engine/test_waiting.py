"""Turns that wait for a client's results or for somebody's yes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.bus.memory import memory_bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import BadRequest, NotFound
from sessions_app.domain.parts import ToolCallReady
from sessions_app.domain.prompt import ToolChoice
from sessions_app.engine.rounds import ClaimLost, Rounds
from sessions_app.engine.sweeper import sweep
from sessions_app.models import Attempt, Tool, ToolCall, Turn
from sessions_app.store.db import in_thread
from sessions_app.store.progress import ToolResult
from tests.engine.conftest import CALLER, Engine
from tests.engine.waiting import PAGE, WANTS_TOOLS, Waiting, asks
from tests.fakes.people import make_caller
from tests.fakes.scripted_provider import ScriptedProvider, Step, says
from tests.fakes.waiting import until


async def test_turn_goes_on_with_the_clients_result(engine: Engine) -> None:
    provider = ScriptedProvider(asks("page"), says("On the home page"))
    waiting = await Waiting(engine, provider).begin()
    await waiting.send(ToolResult("call_0", "home"))
    kinds = [kind for kind, _ in await waiting.events()]
    assert kinds == [
        "session.status_running",
        "turn_started",
        "tool_call_requested",
        "turn_awaiting_tools",
        "tool_call_completed",
        "message_completed",
        "agent.message",
        "session.status_idle",
    ]
    asked, result = provider.requests[1].messages[1:]
    assert (asked.tool_calls[0].call_id, result.content) == ("call_0", "home")
    assert [tool.name for tool in provider.requests[0].tools] == ["page"]


async def test_waiting_turn_holds_no_task_and_no_lease(engine: Engine) -> None:
    waiting = await Waiting(engine, ScriptedProvider(asks("page"))).begin()
    turn = await waiting.turn()
    await until(lambda: not waiting.host._runs)
    assert (turn.worker, turn.lease_until) == ("", None)


async def test_events_stay_contiguous_over_the_wait(engine: Engine) -> None:
    waiting = await Waiting(engine, ScriptedProvider(asks("page"), says("ok"))).begin()
    await waiting.send(ToolResult("call_0", "home"))
    await waiting.events()
    entries = await get_bus().log.read(engine.session.pk, Cursor(1, 0), 0)
    assert [entry.cursor.n for entry in entries] == list(range(1, 9))


async def test_usage_of_all_rounds_is_one_sum(engine: Engine) -> None:
    provider = ScriptedProvider(asks("page"), says("ok"))
    waiting = await Waiting(engine, provider).begin()
    await waiting.send(ToolResult("call_0", "home"))
    await waiting.events()
    turn = await waiting.turn()
    attempts = await in_thread(lambda: list(turn.attempts.order_by("number")))
    assert [attempt.number for attempt in attempts] == [1, 2]
    assert turn.tokens_in == sum(attempt.tokens_in for attempt in attempts) > 0


@pytest.mark.parametrize(
    "results",
    [
        [],
        [ToolResult("call_9", "x")],
        [ToolResult("call_0", "x")],
        [ToolResult("call_0", "x"), ToolResult("call_0", "y")],
        [ToolResult("call_0", "x"), ToolResult("call_1", "x"), ToolResult("c", "x")],
    ],
)
async def test_unfit_results_are_refused_and_lose_nothing(
    engine: Engine, results: list[ToolResult]
) -> None:
    provider = ScriptedProvider(asks("page", "page"), says("ok"))
    waiting = await Waiting(engine, provider).begin()
    with pytest.raises(BadRequest):
        await waiting.send(*results)
    assert await waiting.is_waiting()
    await waiting.send(ToolResult("call_1", "b"), ToolResult("call_0", "a"))
    await waiting.events()
    assert [m.content for m in provider.requests[1].messages[2:]] == ["a", "b"]


async def test_answered_call_takes_no_second_result(engine: Engine) -> None:
    waiting = await Waiting(engine, ScriptedProvider(asks("page"), says("ok"))).begin()
    await waiting.send(ToolResult("call_0", "home"))
    with pytest.raises(BadRequest):
        await waiting.send(ToolResult("call_0", "again"))


async def test_stranger_cannot_send_results(engine: Engine) -> None:
    waiting = await Waiting(engine, ScriptedProvider(asks("page"))).begin()
    with pytest.raises(NotFound):
        await waiting.send(ToolResult("call_0", "x"), caller=make_caller("key:99"))


async def test_error_of_the_client_goes_to_the_model(engine: Engine) -> None:
    provider = ScriptedProvider(asks("page"), says("sorry"))
    waiting = await Waiting(engine, provider).begin()
    await waiting.send(ToolResult("call_0", "no page here", is_error=True))
    assert "tool_call_failed" in dict(await waiting.events())
    assert provider.requests[1].messages[-1].content == "Error: no page here"


async def test_cancel_ends_a_waiting_turn(engine: Engine) -> None:
    waiting = await Waiting(engine, ScriptedProvider(asks("page"))).begin()
    turn_id = waiting.posted.turn_id
    await in_thread(service.cancel_turn, CALLER, engine.session.pk, turn_id)
    waiting.host.begin(turn_id)
    events = dict(await waiting.events())
    assert events["message_completed"]["stopReason"] == "cancelled"
    assert len(waiting.provider.requests) == 1


async def test_wait_ends_at_its_deadline(engine: Engine, settings: Any) -> None:
    settings.LANTERN = {"tool_wait_s": 0.05}
    waiting = await Waiting(engine, ScriptedProvider(asks("page"))).begin()
    await waiting.until(lambda: sweep_ended(waiting))
    events = dict(await waiting.events())
    assert events["turn_failed"]["code"] == "tool_deadline"
    assert (await waiting.turn()).tokens_in > 0


async def sweep_ended(waiting: Waiting) -> bool:
    await sweep(get_bus(), None)
    return not await waiting.is_waiting()


# The log of a new process is empty; a client that reconnects is asked again.
async def test_waiting_turn_survives_a_restart(engine: Engine) -> None:
    provider = ScriptedProvider(asks("page"), says("ok"))
    waiting = await Waiting(engine, provider).begin()
    await waiting.host.close(0)
    memory_bus.cache_clear()
    waiting.host = await engine.host(provider, is_alone=True)
    assert await waiting.is_waiting()
    await waiting.send(ToolResult("call_0", "home"))
    kinds = [kind for kind, _ in await waiting.events()]
    assert kinds[:3] == [
        "tool_call_requested",
        "turn_awaiting_tools",
        "tool_call_completed",
    ]


@pytest.mark.parametrize("is_released", [True, False], ids=["released", "left"])
async def test_worker_that_ends_before_it_asks_loses_no_call(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, is_released: bool
) -> None:
    """The calls are committed, the wait for them is not."""
    reached, held = asyncio.Event(), asyncio.Event()

    async def wait(rounds: Rounds, awaited: object) -> None:
        reached.set()
        await held.wait()
        raise ClaimLost  # what a process that is gone writes: nothing

    provider = ScriptedProvider(asks("page"), says("On the home page"))
    waiting = Waiting(engine, provider)
    host = await engine.host(provider)
    waiting.posted = await engine.post("Where am I?", client_tools=(PAGE,))
    with monkeypatch.context() as patch:
        patch.setattr(Rounds, "_wait", wait)
        host.begin(waiting.posted.turn_id)
        await reached.wait()
        if not is_released:
            held.set()
        await host.close(0.0)
    waiting.host = await engine.host(provider, is_alone=True)
    waiting.host.begin(waiting.posted.turn_id)
    await waiting.until(waiting.is_waiting)
    await waiting.send(ToolResult("call_0", "home"))
    kinds = [kind for kind, _ in await waiting.events()]
    assert kinds[-3:] == ["message_completed", "agent.message", "session.status_idle"]
    assert kinds.count("tool_call_requested") == kinds.count("turn_started") == 1
    assert len(provider.requests) == 2
    assert await in_thread(ToolCall.objects.count) == 1
    turn = await waiting.turn()
    assert turn.tokens_out == sum(row.tokens_out for row in await attempts(turn))


async def attempts(turn: Turn) -> list[Attempt]:
    return await in_thread(lambda: list(turn.attempts.all()))


async def test_forced_choice_counts_for_the_first_round(engine: Engine) -> None:
    provider = ScriptedProvider(asks("page"), says("ok"))
    choice = ToolChoice("tool", "page")
    waiting = await Waiting(engine, provider).begin(tool_choice=choice)
    await waiting.send(ToolResult("call_0", "home"))
    await waiting.events()
    modes = [request.tool_choice.mode for request in provider.requests]
    assert modes == ["tool", "auto"]


async def test_choice_of_none_streams(engine: Engine) -> None:
    provider = ScriptedProvider(says("Hel", "lo"))
    host = await engine.host(provider)
    none = ToolChoice("none")
    posted = await engine.post(client_tools=(PAGE,), tool_choice=none)
    host.begin(posted.turn_id)
    kinds = [kind for kind, _ in await engine.events(posted)]
    assert kinds.count("message_delta") == 2
    assert provider.requests[0].tools == ()


@pytest.fixture
async def guarded(engine: Engine) -> Engine:
    """An agent whose clock must be asked for."""
    path = "sessions_app.tools.builtin:current_time"
    make = Tool.objects.create
    settings = {"path": path}
    await in_thread(
        make, name="clock", kind="python", settings=settings, needs_approval=True
    )
    engine.agent.tools = ["clock"]
    await in_thread(engine.agent.save)
    return engine


def asks_clock() -> list[Step]:
    return [ToolCallReady("call_0", "clock"), WANTS_TOOLS]


async def test_allowed_call_is_run_once(guarded: Engine) -> None:
    provider = ScriptedProvider(asks_clock(), says("Noon"))
    waiting = await Waiting(guarded, provider).begin(client_tools=())
    assert await in_thread(lambda: ToolCall.objects.get().status) == "unapproved"
    await waiting.approve(call_0=True)
    kinds = [kind for kind, _ in await waiting.events()]
    assert kinds[2:6] == [
        "tool_approval_requested",
        "turn_awaiting_tools",
        "tool_call_started",
        "tool_call_completed",
    ]
    assert provider.requests[1].messages[-1].content.endswith("UTC")


async def test_declined_call_is_not_run(guarded: Engine) -> None:
    provider = ScriptedProvider(asks_clock(), says("Fine"))
    waiting = await Waiting(guarded, provider).begin(client_tools=())
    await waiting.approve(call_0=False)
    kinds = [kind for kind, _ in await waiting.events()]
    assert "tool_call_started" not in kinds
    assert (
        provider.requests[1].messages[-1].content == "Error: The call was not allowed."
    )


# The results of a quick client come while the turn is still being let go.
async def test_wake_up_during_a_run_is_not_lost(engine: Engine) -> None:
    provider = ScriptedProvider([0.05, *asks("page")], says("ok"))
    host = await engine.host(provider)
    posted = await engine.post(client_tools=(PAGE,))
    host.begin(posted.turn_id)
    async with asyncio.timeout(5):
        while posted.turn_id not in host._runs:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    host.begin(posted.turn_id)
    assert host._again == {posted.turn_id}
    await engine.until("turn_awaiting_tools")
    async with asyncio.timeout(5):
        while host._again or host._runs:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    assert (await in_thread(Turn.objects.get, pk=posted.turn_id)).fence == 1


async def test_results_and_approvals_may_come_apart(guarded: Engine) -> None:
    provider = ScriptedProvider(asks("clock", "page"), says("ok"))
    provider._scripts[0] = [
        ToolCallReady("call_0", "clock"),
        ToolCallReady("call_1", "page"),
        WANTS_TOOLS,
    ]
    waiting = await Waiting(guarded, provider).begin()
    await waiting.approve(call_0=True)
    assert await waiting.is_waiting()
    await waiting.send(ToolResult("call_1", "home"))
    await waiting.events()
    contents = [message.content for message in provider.requests[1].messages[2:]]
    assert contents[0].endswith("UTC")
    assert contents[1] == "home"


async def test_request_that_the_log_lost_is_said_again(
    engine: Engine, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LANTERN = {"sweep_s": 0.05}
    monkeypatch.setattr("sessions_app.engine.host.TELL_EVERY", 1)
    waiting = await Waiting(
        engine, ScriptedProvider(asks("page"), says("Here"))
    ).begin()
    memory_bus.cache_clear()  # what Redis is after a crash: empty
    await waiting.host.close(0.0)
    await engine.host(ScriptedProvider())
    async with asyncio.timeout(5):
        await engine.until("turn_awaiting_tools")
    log = get_bus().log
    start = Cursor(waiting.posted.ordinal, 0)
    found = await log.read(engine.session.pk, start, start.turn - 1)
    kinds = [entry.kind for entry in found]
    await asyncio.sleep(0.3)
    assert kinds == ["tool_call_requested", "turn_awaiting_tools"]
    assert len(await log.read(engine.session.pk, start, start.turn - 1)) == 2
