"""A real model, its own tokenizer and its own pace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.e2e.conftest import Serve
from tests.fakes.client import Client, check_turn, deltas
from tests.fakes.live_server import KEY
from tests.fakes.real_model import MODEL, real_model

pytestmark = [pytest.mark.live, pytest.mark.model, pytest.mark.timeout(180)]

AGENT = f"""
[[price]]
provider = "primary"
model = "{MODEL}"
input = "0.10"
output = "0.40"

[[agent]]
slug = "writer"
route = ["primary/{MODEL}"]
max_output_tokens = 80
temperature = 1
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_model(tmp_path_factory.mktemp("model")) as base_url:
        yield base_url


@pytest.fixture
async def writer(serve: Serve, model: str) -> AsyncIterator[Client]:
    """A client of a server whose agent ``writer`` is the model."""
    async with Client(serve(model, AGENT).url, KEY) as client:
        yield client


async def test_real_tokens_join_to_the_stored_text(writer: Client) -> None:
    session_id = await writer.create(agent="writer")
    posted = await writer.post(session_id, "Tell a long story about a lighthouse.")
    events = await writer.until_idle(posted)
    check_turn(events)
    texts = list(deltas(events))
    assert len(texts) >= 50
    completed = next(e.data for e in events if e.kind == "message_completed")
    stored = (await writer.messages(session_id))[-1]
    assert "".join(texts) == completed["text"] == stored["content"]


async def test_real_tokens_and_cost_are_booked(writer: Client) -> None:
    posted = await writer.post(await writer.create(agent="writer"), "Hello there.")
    turn = await writer.ended(posted, 60)
    usage = turn["usage"]
    assert usage["estimated"] is False
    assert usage["tokensIn"] > 0
    assert 0 < usage["tokensOut"] <= 80
    cost = usage["tokensIn"] * 0.10e-6 + usage["tokensOut"] * 0.40e-6
    assert usage["costUsd"] == pytest.approx(cost, rel=1e-9)
    assert turn["attempts"][0]["provider"] == "primary"


async def test_cancel_stops_the_model(writer: Client) -> None:
    posted = await writer.post(await writer.create(agent="writer"), "Count to 1000.")
    await writer.first("message_delta", posted, 3)
    await writer.cancel(posted)
    turn = await writer.ended(posted)
    assert turn["status"] == "cancelled"
    assert turn["usage"]["tokensOut"] < 80
