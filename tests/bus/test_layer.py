"""The channel layer of the embedded default."""

from __future__ import annotations

import time

from channels.layers import get_channel_layer


# The layer strikes a member from its groups after a day, and at a message that nobody
# took for a minute: after that no cancel was heard.
async def test_member_of_long_standing_still_hears() -> None:
    layer = get_channel_layer()
    await layer.group_add("workers", "turns")
    layer.groups["workers"]["turns"] -= 400 * 86_400
    await layer.send("turns", {"type": "old"})
    due, message = layer.channels["turns"].get_nowait()
    layer.channels["turns"].put_nowait((due - 3600, message))
    await layer.group_send("workers", {"type": "turn.cancel"})
    heard = [await layer.receive("turns") for _ in range(2)]
    assert heard[1] == {"type": "turn.cancel"}
    assert due - time.time() > 3600
