"""Visitors who post, ask again, stop, come and go while things break."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from tests.drill.acts import PATIENCE_S, TOKENS_IN, judge, slow_reply
from tests.drill.plans import Move
from tests.fakes.client import IDLE, TERMINAL, Client, Event, Posted, Unavailable
from tests.fakes.fake_upstream import Exchange, FakeUpstream, Reply

T = TypeVar("T")
ASKED = re.compile(r"\d+ words for v\d+")
AWAY = (Unavailable, httpx.TransportError)
RETRY_S = 0.2
QUIET_S = 1.0


@dataclass
class Visit:
    """One message, what its reader saw, and how many words it asked for."""

    name: str
    manner: str
    words: int
    agent: str
    session_id: str = ""
    posted: Posted | None = None
    seen: list[Event] = field(default_factory=list)
    first_word_at: float = float("inf")

    @property
    def content(self) -> str:
        return f"{self.words} words for {self.name}"

    @property
    def is_ended(self) -> bool:
        return bool(self.seen) and self.seen[-1].kind in TERMINAL


class Visitors:
    """All of them; ``counts`` says what they did and saw."""

    def __init__(
        self, clients: list[Client], upstream: FakeUpstream, counts: Counter[str]
    ) -> None:
        self.clients = clients
        self.upstream = upstream
        self.counts = counts
        self.visits: list[Visit] = []
        upstream.answer = answer

    async def do(self, move: Move) -> None:
        """One visit to its end, or one request about an earlier one."""
        accepted = [visit for visit in self.visits if visit.posted]
        earlier = accepted[move.which % len(accepted)] if accepted else None
        if move.name == "again" and earlier:
            await self.ask_again(earlier, move.which)
        elif move.name == "cancel" and accepted:
            await self.cancel(accepted[-1 - move.which % min(2, len(accepted))], move)
        else:
            await self.visit(move, earlier if move.name == "follow" else None)

    async def visit(self, move: Move, earlier: Visit | None) -> None:
        agent = ("helper", "hasty")[move.which // 2 % 2]
        words = 5 + move.which % 30
        visit = Visit(f"v{len(self.visits)}", move.name, words, agent)
        self.visits.append(visit)
        if earlier:
            visit.session_id = earlier.session_id
            visit.agent = earlier.agent
        else:
            visit.session_id = await self._insist(
                move.which, lambda client: client.create(agent=agent)
            )
        visit.posted = await self._insist(move.which, lambda one: post(one, visit))
        self.counts["turns"] += 1
        await self.read(visit, move.which)

    async def ask_again(self, visit: Visit, which: int) -> None:
        """The same key on any process is the same turn."""
        posted = await self._insist(which, lambda client: post(client, visit))
        assert posted == visit.posted
        self.counts["posts with the same key"] += 1

    async def cancel(self, visit: Visit, move: Move) -> None:
        posted = visit.posted
        assert posted is not None
        await self._insist(move.which, lambda client: client.cancel(posted))
        self.counts["cancels"] += 1

    async def read(self, visit: Visit, which: int) -> None:
        """Until the end, over as many connections as it takes; or vanish."""
        while not visit.is_ended:
            try:
                if await self._read_once(visit, self.clients[which % 2]):
                    return
                self.counts["resumes"] += 1
            except AWAY:
                self.counts["streams broken"] += 1
            which += 1
            await asyncio.sleep(RETRY_S)

    async def _read_once(self, visit: Visit, client: Client) -> bool:
        """Whether the reader is done: at the end, or gone."""
        assert visit.posted is not None
        after = visit.seen[-1].id if visit.seen else visit.posted.cursor
        got = 0
        async with aclosing(client.events(visit.session_id, after)) as stream:
            async for event in stream:
                if not event.id:
                    continue
                visit.seen.append(event)
                got += 1
                if event.kind == "message_delta":
                    visit.first_word_at = min(visit.first_word_at, time.monotonic())
                if event.kind in TERMINAL:
                    return True
                if visit.manner == "slow":
                    await asyncio.sleep(0.25)
                if visit.manner == "vanishing" and got == 5:
                    self.counts["vanished"] += 1
                    return True
                if visit.manner == "resuming" and got == 7:
                    return False
        return False

    async def judge(self) -> None:
        """All histories against the installation, and all of that against all sent."""
        for visit in self.visits:
            assert visit.posted is not None
            visit.manner = "steady"
            await self.read(visit, 0)
            turn = await judge(self.clients[1], visit.posted, visit.seen)
            check_bill(visit, turn, self._requests(visit))
            self.counts[f"end {visit.seen[-1].kind}, {turn['status']}"] += 1
            self.counts["events"] += len(visit.seen)
        known = {visit.content for visit in self.visits}
        assert {asked(each) for each in self.upstream.requests} <= known
        sessions = {visit.session_id for visit in self.visits}
        await asyncio.gather(*map(self._judge_session, sessions))

    def _requests(self, visit: Visit) -> list[Exchange]:
        found = [e for e in self.upstream.requests if asked(e) == visit.content]
        self.counts["requests to the provider"] += len(found)
        return found

    async def _judge_session(self, session_id: str) -> None:
        """A reader of everything is told each turn once, with one end, in order."""
        visits = [v for v in self.visits if v.session_id == session_id]
        seen = await everything(self.clients[0], session_id, len(visits))
        ends = [event for event in seen if event.kind in TERMINAL]
        places = [tuple(map(int, event.id.split("-"))) for event in seen]
        assert places == sorted(set(places)), "repeated or out of order"
        told = [event.data["turnId"] for event in ends]
        assert sorted(told) == sorted(v.posted.turn_id for v in visits if v.posted)
        for end in ends:
            mine = [e for e in seen if e.data.get("turnId") == end.data["turnId"]]
            after = {event.kind for event in mine[mine.index(end) + 1 :]}
            assert after <= {"agent.message", IDLE}, after
        messages = await self.clients[0].messages(session_id)
        stored = [m["content"] for m in messages if m["role"] == "user"]
        assert sorted(stored) == sorted(visit.content for visit in visits)

    async def _insist(self, which: int, ask: Callable[[Client], Awaitable[T]]) -> T:
        """Ask the processes in turn until one answers."""
        while True:
            try:
                return await ask(self.clients[which % 2])
            except AWAY:
                self.counts["requests refused or lost"] += 1
            which += 1
            await asyncio.sleep(RETRY_S)


async def post(client: Client, visit: Visit) -> Posted:
    return await client.post(visit.session_id, visit.content, key=visit.name)


async def everything(client: Client, session_id: str, ends: int) -> list[Event]:
    """What a session's stream has: so many ends, and more until it is quiet.

    A busy machine may be quiet for a while before it has told all of them.
    """
    seen: list[Event] = []
    async with aclosing(client.events(session_id, "0-0")) as stream:
        while True:
            told = sum(event.kind in TERMINAL for event in seen)
            patience_s = QUIET_S if told >= ends else PATIENCE_S
            try:
                event = await asyncio.wait_for(anext(stream), patience_s)
            except (TimeoutError, StopAsyncIteration):
                return seen
            if event.id:
                seen.append(event)


def asked(exchange: Exchange) -> str:
    """What a request to the provider is to be answered with.

    Messages whose turns had no answer stand before it in the same text.
    """
    return str(ASKED.findall(exchange.json["messages"][-1]["content"])[-1])


def answer(exchange: Exchange) -> Reply:
    """As many words as the message asks for."""
    return slow_reply(int(asked(exchange).split()[0]))


def check_bill(visit: Visit, turn: Any, requests: list[Exchange]) -> None:
    """What was told to its end is billed so; a turn has one key, and one text."""
    assert len({each.headers["idempotency-key"] for each in requests}) <= 1
    late = [each for each in requests if each.arrived_at > visit.first_word_at]
    # A worker that was frozen before it asked may ask when it wakes, under the same
    # key; at the first word it finds that the turn is another's.
    assert all(each.hung_up_at for each in late), "asked again after a word was shown"
    counted = turn["usage"]
    if turn["status"] == "completed":
        assert requests
        if not counted["estimated"]:
            assert counted["tokensOut"] == visit.words
            assert counted["tokensIn"] == TOKENS_IN
        else:
            # Only a request that a dead worker made, or that broke, tells no numbers.
            assert len(requests) > 1 or visit.agent == "hasty"
    if not requests:
        assert counted["tokensOut"] == 0
