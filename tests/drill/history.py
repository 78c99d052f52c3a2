"""Judges what a client saw of a turn against what the installation says of it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

from tests.fakes.client import IDLE, TERMINAL, Client, Event, Posted, deltas

REOPEN_S = 0.5
ENDED = ("completed", "cancelled", "failed")


def check_history(events: list[Event], turn: Any) -> None:
    """No gap, no repeat, one end, and the end that is stored.

    ``events`` are those of one client over all its connections. A turn that is told
    from the database comes as its end alone, after what was seen before.
    """
    assert turn["status"] in ENDED, turn
    seen = [event.n for event in events if event.id]
    assert seen == sorted(set(seen)), "repeated or out of order"
    ends = [event for event in events if event.kind in TERMINAL]
    assert len(ends) == 1, ends
    before = [n for n in seen if n < ends[0].n]
    assert before == list(range(1, len(before) + 1)), "a gap"
    seqs = [event.data["seq"] for event in events if event.kind == "message_delta"]
    assert seqs == list(range(1, len(seqs) + 1))
    after = [e.kind for e in events if e.id and e.n > ends[0].n]
    assert set(after) <= {"agent.message", IDLE}, after
    _check_end(ends[0], "".join(deltas(events)), turn)


def _check_end(end: Event, shown: str, turn: Any) -> None:
    if end.kind == "message_completed":
        assert turn["status"] in ("completed", "cancelled")
        assert end.data["text"].startswith(shown)
        assert end.data["text"] == (turn["text"] or "")
    else:
        assert turn["status"] == "failed"
        assert end.data["code"] == turn["error"]["code"]


async def watch(client: Client, posted: Posted, seen: list[Event]) -> None:
    """Add what the stream shows until the turn's end; the caller may call again.

    A stream that the server closes is opened again, as every client does.
    """
    while not (seen and seen[-1].kind in TERMINAL):
        after = seen[-1].id if seen else posted.cursor
        async with aclosing(client.events(posted.session_id, after)) as stream:
            async for event in stream:
                if event.id:
                    seen.append(event)
                if event.kind in TERMINAL:
                    return
        await asyncio.sleep(REOPEN_S)
