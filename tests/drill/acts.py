"""What drills are made of: turns that take some seconds, and readers of them."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.drill.history import check_history, watch
from tests.fakes.client import Client, Event, Posted
from tests.fakes.cluster import Cluster
from tests.fakes.fake_upstream import Reply
from tests.fakes.live_server import KEY, LiveServer
from tests.fakes.openai_events import DONE, finish, text, usage
from tests.fakes.waiting import until

WORDS = 60
TOKENS_IN = 11
PATIENCE_S = 40.0
Act = Callable[[], Awaitable[object]]


def slow_reply(words: int = WORDS, pause_s: float = 0.1) -> Reply:
    """Some seconds of text; it counts a token for each word."""
    steps = [step for n in range(words) for step in (text(f"{n} "), pause_s)]
    return Reply([*steps, finish(), usage(TOKENS_IN, words), DONE])


async def during(
    cluster: Cluster,
    act: Act,
    turns: int = 4,
    webs: list[LiveServer] | None = None,
    **session: Any,
) -> list[list[Event]]:
    """What readers on the web processes saw of turns that ``act`` came upon."""
    one, other = webs or cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        posts = [await a.post(await a.create(**session)) for _ in range(turns)]
        seen: list[list[Event]] = [[] for _ in posts]
        readers = [
            asyncio.create_task(watch((a, b)[n % 2], post, seen[n]))
            for n, post in enumerate(posts)
        ]
        try:
            await until(lambda: all(map(is_begun, seen)), PATIENCE_S)
            await act()
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*readers)
                for post, events in zip(posts, seen, strict=True):
                    await judge(b, post, events)
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
    return seen


def is_begun(events: list[Event]) -> bool:
    """Whether some text was seen."""
    return any(event.kind == "message_delta" for event in events)


async def judge(client: Client, posted: Posted, events: list[Event]) -> Any:
    """Check what one reader saw, and what a late one sees; the turn."""
    turn = await client.ended(posted, PATIENCE_S)
    check_history(events, turn)
    late: list[Event] = []
    async with asyncio.timeout(PATIENCE_S):
        await watch(client, posted, late)
    check_history(late, turn)
    assert late[-1].data == events[-1].data
    check_usage(turn, events)
    return turn


def check_usage(turn: Any, events: list[Event]) -> None:
    """What is billed is what the provider counted, or is called a guess."""
    words = sum(event.kind == "message_delta" for event in events)
    counted = turn["usage"]
    if turn["status"] == "completed" and not counted["estimated"]:
        assert counted["tokensIn"] % TOKENS_IN == 0
        assert counted["tokensOut"] >= words
    elif words:
        assert counted["estimated"]
        assert counted["tokensIn"] > 0


def billed(turn: Any) -> tuple[int, int, bool]:
    """Tokens in, tokens out, and whether they are a guess."""
    counted = turn["usage"]
    return counted["tokensIn"], counted["tokensOut"], counted["estimated"]


def ends(seen: list[list[Event]]) -> set[str]:
    """How the turns ended."""
    return {events[-1].kind for events in seen}


async def crowd_before(server: LiveServer) -> None:
    """More connections than a process with few descriptors can take, for a while."""
    crowd = [socket.socket() for _ in range(60)]
    for sock in crowd:
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", server.port))
    await asyncio.sleep(2)
    for sock in crowd:
        sock.close()


@contextmanager
def descriptors_for(server: LiveServer, more: int) -> Iterator[None]:
    """Let a process open so many files more than it has."""
    used = len(os.listdir(f"/proc/{server.pid}/fd"))
    before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used + more, before[1]))
    try:
        yield
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
