"""Readers that come and go at random points of running turns (case C31)."""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import aclosing

import pytest

from tests.fakes.client import IDLE, Client, Event, Posted, check_turn, deltas
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.openai_events import DONE, finish, text

RESUMES = int(os.environ.get("LANTERN_RESUMES", "100"))
READERS = 10
WORDS = [f"word{number} " for number in range(120)]

pytestmark = [pytest.mark.live, pytest.mark.timeout(60 + RESUMES)]


def paced(pause_s: float) -> Reply:
    """The words, one at a time."""
    steps = [step for word in WORDS for step in (text(word), pause_s)]
    return Reply([*steps, finish(), DONE])


class Reader:
    """Follows one turn, and hangs up after a few events each time."""

    def __init__(self, client: Client, posted: Posted, chance: random.Random) -> None:
        self._client = client
        self._posted = posted
        self._chance = chance
        self.resumes = 0
        self.events: list[Event] = []

    async def read(self) -> None:
        """All events of the turn, over as many connections as it takes."""
        cursor = self._posted.cursor
        while not (self.events and self.events[-1].kind == IDLE):
            cursor = await self._read_some(cursor)
            self.resumes += 1
            await asyncio.sleep(self._chance.choice([0, 0, 0.01, 0.05]))

    async def _read_some(self, cursor: str) -> str:
        count = self._chance.randrange(12)
        stream = self._client.events(self._posted.session_id, cursor)
        async with aclosing(stream) as events:
            async for event in events:
                if event.id:
                    self.events.append(event)
                    cursor = event.id
                if count == 0 or event.kind == IDLE:
                    break
                count -= 1
        return cursor


async def test_resumes_leave_no_gap_and_no_repeat(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(paced(0.01))
    chance = random.Random(7)
    done = 0
    while done < RESUMES:
        readers = []
        for _ in range(READERS):
            posted = await client.post(await client.create())
            readers.append(Reader(client, posted, random.Random(chance.random())))
        await asyncio.gather(*(reader.read() for reader in readers))
        for reader in readers:
            check_turn(reader.events)
            assert list(deltas(reader.events)) == WORDS
            done += reader.resumes


async def test_resume_in_second_turn_sends_its_rest(
    client: Client, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([*map(text, WORDS[:5]), finish(), DONE]))
    session_id = await client.create()
    await client.until_idle(await client.post(session_id))
    posted = await client.post(session_id)
    whole = await client.until_idle(posted)
    place = [event.kind for event in whole].index("message_delta") + 1
    cursor = whole[place].id
    for _ in range(2):  # nothing new came in between: the same again
        again = await client.until_idle(posted, after=cursor)
        assert again == whole[place + 1 :]
    assert [event.data["seq"] for event in again if "seq" in event.data] == [3, 4, 5]
