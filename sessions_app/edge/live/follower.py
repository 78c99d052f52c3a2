"""What a socket shows of a session: its events as they come, in the socket's words."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from sessions_app.bus import get_bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import StatusIdle, TurnStarted
from sessions_app.domain.prompt import AUTO, ToolChoice, ToolSpec
from sessions_app.edge.live.tail import tail
from sessions_app.store.posting import PostedTurn
from sessions_app.wire.lantern_v1_server import event_text, turn_text
from sessions_app.wire.payload import Entry

logger = logging.getLogger(__name__)


class Socket(Protocol):
    """The connection that a session is shown to."""

    async def send(self, text: str) -> None: ...

    async def is_standing(self) -> bool:
        """Whether it may be shown more; if not, the socket sees to its own end."""
        ...


class Follower:
    """One followed session, in a task that lasts until the session is done with."""

    def __init__(self, session_id: str, start: Cursor, socket: Socket) -> None:
        self._session_id = session_id
        self._start = start
        self._socket = socket
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            async with aclosing(tail(get_bus(), self._session_id, self._start)) as all_:
                async for entries in all_:
                    if not await self._socket.is_standing():
                        return
                    for entry in entries:
                        if text := await self.frame(entry):
                            await self._socket.send(text)
                    if self.is_done():
                        return
        except Exception:
            logger.exception("A socket's session could not be followed.")

    async def frame(self, entry: Entry) -> str | None:
        """The event as a frame; None if there is nothing to show."""
        return event_text(entry)

    def is_done(self) -> bool:
        """Whether nothing that matters can follow."""
        return False


@dataclass(frozen=True, slots=True)
class Terms:
    """What a session's start said that counts for each of its prompts."""

    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = AUTO
    with_raw: bool = False


class OwnedSession(Follower):
    """A session that its connection started: it may post, and names its requests."""

    def __init__(self, posted: PostedTurn, terms: Terms, socket: Socket) -> None:
        self.last = posted
        self.terms = terms
        self.is_closed = False
        # Held while a prompt is posted: its turn may begin before its id is known here.
        self.posting = asyncio.Lock()
        self._request_ids: dict[str, str] = {}
        self._ended_ordinal = 0
        super().__init__(posted.session_id, Cursor(posted.ordinal, 0), socket)

    def remember(self, posted: PostedTurn, request_id: str | None) -> None:
        """The turn that answers a prompt."""
        self.last = posted
        if request_id is not None:
            self._request_ids[posted.turn_id] = request_id

    async def frame(self, entry: Entry) -> str | None:
        if entry.kind == TurnStarted.kind:
            async with self.posting:
                pass
        if entry.is_terminal:
            self._ended_ordinal = entry.cursor.turn
        if self.is_closed and entry.kind == StatusIdle.kind:
            return None  # "closed" was said, and stays
        return turn_text(entry, self._request_ids)

    def is_done(self) -> bool:
        return self.is_closed and self.is_quiet()

    def is_quiet(self) -> bool:
        """Whether the end of its last turn was shown."""
        return self._ended_ordinal >= self.last.ordinal
