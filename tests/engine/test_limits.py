from __future__ import annotations

import pytest

from sessions_app.domain.outcome import TurnEnd
from sessions_app.domain.parts import TextPart
from sessions_app.domain.states import TurnState
from sessions_app.domain.usage import Usage
from sessions_app.engine import host as host_module
from sessions_app.store import turns
from sessions_app.store.claim import claim
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says


async def test_endless_reply_is_cut_at_the_limit(
    engine: Engine, settings: object
) -> None:
    settings.LANTERN = {"max_reply_characters": 40}  # type: ignore[attr-defined]
    provider = ScriptedProvider([*[TextPart("x")] * 1000, STOP])
    events = await engine.run(provider)
    assert events[-3][1]["stopReason"] == "length"
    assert events[-3][1]["text"] == "x" * 11
    assert provider.was_closed == 1


async def test_end_that_was_committed_is_found_again(engine: Engine) -> None:
    posted = await engine.post()
    work = await in_thread(claim, posted.turn_id, "worker")
    assert work is not None
    end = TurnEnd(TurnState.COMPLETED, 4, Usage(), "Hi", "stop", "digest")
    assert (await in_thread(turns.finish, work, end)).is_held
    assert (await in_thread(turns.finish, work, end)).is_held


async def test_another_end_after_the_first_is_refused(engine: Engine) -> None:
    posted = await engine.post()
    work = await in_thread(claim, posted.turn_id, "worker")
    assert work is not None
    end = TurnEnd(TurnState.COMPLETED, 4, Usage(), "Hi", "stop", "digest")
    await in_thread(turns.finish, work, end)
    other = TurnEnd(TurnState.FAILED, 4, Usage(), error_code="internal")
    assert not (await in_thread(turns.finish, work, other)).is_held


async def test_sweeper_survives_a_fault(
    engine: Engine, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LANTERN = {"sweep_s": 0.02}  # type: ignore[attr-defined]
    faults = [RuntimeError("boom")]
    sweep = host_module.sweep

    async def failing_once(*args: object) -> list[str]:
        if faults:
            raise faults.pop()
        return await sweep(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(host_module, "sweep", failing_once)
    posted = await engine.post()
    await engine.host(ScriptedProvider(says("Hi")))
    assert (await engine.events(posted))[-3][1]["text"] == "Hi"
