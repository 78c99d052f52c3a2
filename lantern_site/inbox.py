"""What the application has yet to receive on one connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


class Inbox:
    """A queue for one reader that costs an open stream next to nothing.

    ``asyncio.Queue`` keeps three deques, 2 KB, for each connection. ``when_empty`` is
    called once, when everything was taken.
    """

    __slots__ = ("_messages", "_waiter", "when_empty")

    def __init__(self) -> None:
        self._messages: list[dict[str, Any]] = []
        self._waiter: asyncio.Future[None] | None = None
        self.when_empty: Callable[[], object] | None = None

    @property
    def size(self) -> int:
        """How many messages wait."""
        return len(self._messages)

    def put_nowait(self, message: dict[str, Any]) -> None:
        """Add a message."""
        self._messages.append(message)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def take_back(self) -> dict[str, Any]:
        """The newest message, which nobody has taken."""
        return self._messages.pop()

    async def get(self) -> dict[str, Any]:
        """The next message; waits for it."""
        while not self._messages:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        message = self._messages.pop(0)
        if not self._messages and self.when_empty is not None:
            when_empty, self.when_empty = self.when_empty, None
            when_empty()
        return message
