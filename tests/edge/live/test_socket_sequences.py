"""Random sequences of frames, sensible and not: the socket and its turns survive.

``LANTERN_SOCKET_SEQUENCES`` says how many; the suite plays some hundred.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from sessions_app.domain.errors import ProviderOverloaded
from sessions_app.domain.parts import FinishPart, StopReason, ToolCallReady
from sessions_app.domain.states import OPEN_STATES
from sessions_app.models import Session, Turn
from sessions_app.store.db import in_thread
from tests.edge.live.conftest import Socket
from tests.fakes.edge import Live, make_people
from tests.fakes.scripted_provider import Step, says
from tests.fakes.waiting import until

COUNT = int(os.environ.get("LANTERN_SOCKET_SEQUENCES", "200"))
TOOL = {"name": "weather", "inputSchema": {"type": "object"}}
WANTS_TOOLS = FinishPart(StopReason.STOP, is_tool_calls=True)
ODD: list[Any] = [None, 7, -1.5, "", "x", "\x00", [], {}, ["x"], {"id": "call_0"}, True]

pytestmark = pytest.mark.timeout(30 + COUNT)


def asks() -> list[Step]:
    return [ToolCallReady("call_0", "weather"), WANTS_TOOLS]


SCRIPTS: list[list[Step]] = [
    says("Hel", "lo"),
    asks(),
    [*asks()[:1], *asks()],
    [ProviderOverloaded()],
    [says("Hel")[0], ProviderOverloaded()],
    [ToolCallReady("call_0", "nothing"), WANTS_TOOLS],
]


class Player:
    """Plays one sequence on a socket of its own, from one seed."""

    def __init__(self, live: Live, seed: int) -> None:
        self.live = live
        self.rng = random.Random(seed)
        self.sessions: list[str] = ["sess_nobody"]
        self.seen: list[dict[str, Any]] = []

    async def play(self) -> list[dict[str, Any]]:
        """All frames that the server sent."""
        self.live.plays(*self.rng.choices(SCRIPTS, k=6), says("end"))
        self.socket = await Socket(self.live).open()
        for _ in range(self.rng.randint(1, 8)):
            await self._say(self.rng.choice(MOVES)(self))
        await self._say({"type": "ping", "requestId": "end"})
        while not self.seen or self.seen[-1].get("requestId") != "end":
            await self._read()
        await self.socket.hang_up()
        return self.seen

    async def _say(self, frame: Any) -> None:
        text = frame if isinstance(frame, str) else msgspec.json.encode(frame).decode()
        message = {"type": "websocket.receive", "text": text}
        await self.socket.communicator.send_input(message)
        for _ in range(self.rng.randint(0, 2)):
            await asyncio.sleep(0)
        while not self.socket.communicator.output_queue.empty():
            await self._read()

    async def _read(self) -> None:
        frame = await self.socket.read()
        self.seen.append(frame)
        if frame["type"] == "session.started":
            self.sessions.append(frame["session"]["id"])

    def session(self) -> str:
        return self.rng.choice(self.sessions)

    def start(self) -> Any:
        frame = {"type": "session.start", "prompt": "hi"}
        if self.rng.random() < 0.7:
            frame["tools"] = [TOOL]  # type: ignore[assignment]
        return frame

    def prompt(self) -> Any:
        return {"type": "session.prompt", "sessionId": self.session(), "prompt": "x"}

    def results(self) -> Any:
        names = self.rng.sample(["call_0", "call_9"], k=self.rng.randint(0, 2))
        results = [{"id": name, "content": "fine"} for name in names]
        session_id = self.session()
        return {
            "type": "session.tool_results",
            "sessionId": session_id,
            "results": results,
        }

    def plain(self) -> Any:
        kind = self.rng.choice(["cancel", "close", "attach"])
        return {"type": f"session.{kind}", "sessionId": self.session()}

    def spoiled(self) -> Any:
        frame = self.rng.choice([Player.start, Player.prompt, Player.results])(self)
        frame[self.rng.choice([*frame, "more"])] = self.rng.choice(ODD)
        return frame

    def garbage(self) -> Any:
        return self.rng.choice(["", "{", "[]", "\ufeff{}", '{"type":"ping"', "NaN"])


MOVES: list[Callable[[Player], Any]] = [
    Player.start,
    Player.start,
    Player.prompt,
    Player.results,
    Player.results,
    Player.plain,
    Player.spoiled,
    Player.garbage,
]


async def test_random_sequences_leave_nothing_behind(transactional_db: None) -> None:
    live = Live(await in_thread(make_people))  # the fixture's time is for single turns
    for seed in range(COUNT):
        frames = await Player(live, seed).play()
        codes = {f["code"] for f in frames if f["type"] == "error"}
        assert "internal" not in codes, f"seed {seed}"
        for session_id in {f["session"]["id"] for f in frames if "session" in f}:
            assert await in_thread(_is_closed, session_id), f"seed {seed}"
    open_turns = Turn.objects.filter(state__in=OPEN_STATES)
    while await in_thread(open_turns.exists):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    await until(lambda: not _turn_tasks())  # an end is announced after it is stored
    await live.engine.stop()


def _turn_tasks() -> list[str]:
    names = (task.get_name() for task in asyncio.all_tasks())
    return [name for name in names if name.startswith("tur_")]


def _is_closed(session_id: str) -> bool:
    return bool(Session.objects.get(pk=session_id).is_closed)
