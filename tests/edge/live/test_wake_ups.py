"""What the engine makes of wake-ups that nobody should send."""

from __future__ import annotations

from typing import Any

import pytest
from channels.layers import get_channel_layer

from sessions_app.engine.consumer import TURNS
from tests.fakes.edge import Live


# While versions change. The engine ended, and the next request began another one, to
# which the turns that ran here were those of a dead process.
@pytest.mark.parametrize(
    "message",
    [
        {"type": "turn.unknown"},
        {"type": "turn.run"},
        {"type": "turn.run", "turn_id": ["no", "text"]},
        {"type": "_private"},
        {},
    ],
)
async def test_unknown_wake_up_is_passed_over(
    live: Live, message: dict[str, Any]
) -> None:
    assert (await live.run())["status"] == "completed"
    task = live.engine._task
    await get_channel_layer().send(TURNS, message)
    assert (await live.run())["status"] == "completed"
    assert live.engine._task is task
