"""A stored history of 20 turns with tools, told to a real model over both its APIs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from sessions_app.domain.parts import ToolCallReady
from sessions_app.models import Attempt, Provider
from sessions_app.providers.http import close_transports
from sessions_app.providers.registry import adapter_for
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.upstreams import end
from tests.fakes.real_model import MODEL, real_model
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says

pytestmark = [pytest.mark.model, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_model(tmp_path_factory.mktemp("model")) as base_url:
        yield base_url


async def talk(engine: Engine) -> None:
    """Twenty turns, each with two calls of one id."""
    engine.agent.tools, engine.agent.max_output_tokens = ["current_time"], 8
    engine.agent.route = [f"primary/{MODEL}"]
    await in_thread(engine.agent.save)
    asks = [*[ToolCallReady("same", "current_time")] * 2, STOP]
    for number in range(20):
        await engine.run(ScriptedProvider(asks, says("Noon.")), f"Question {number}?")


@pytest.fixture
async def client() -> AsyncIterator[None]:
    """The shared HTTP client, closed on the loop that it belongs to."""
    yield
    await close_transports()


@pytest.mark.parametrize("window", [2048, 700])
@pytest.mark.usefixtures("client")
async def test_history_is_accepted_by_both_families(
    engine: Engine, model: str, window: int
) -> None:
    await talk(engine)
    host = await engine.host_with(adapter_for)
    for kind in ("openai", "anthropic"):
        row = await in_thread(Provider.objects.get, name="primary")
        row.kind, row.base_url, row.allow_private = kind, model, True
        row.context_tokens, row.first_content_timeout_s = window, 60
        await in_thread(row.save)
        posted = await engine.post(f"And over {kind}?")
        host.begin(posted.turn_id)
        events = await engine.events(posted)
        assert end(events)[0] == "message_completed"
        attempts = Attempt.objects.filter(turn=posted.turn_id)
        found = await in_thread(lambda rows=attempts: list(rows))
        assert {attempt.status for attempt in found} == {"completed"}
        assert 0 < found[0].tokens_in <= window
