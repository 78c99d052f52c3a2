"""The streams and sockets that are open here, and how they are sent away at the end."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Protocol

BATCH_PAUSE_S = 0.1
BATCHES = 20
MIN_BATCH = 25
RETRY_MS = (500, 3000)


class OpenStream(Protocol):
    """One client that listens."""

    transport_name: str

    @property
    def is_idle(self) -> bool:
        """Whether no turn that it shows is running."""
        ...

    def leave(self) -> None:
        """End it, in a way that brings the client back; returns at once."""
        ...


class OpenStreams:
    """All of this process."""

    def __init__(self) -> None:
        self._streams: set[OpenStream] = set()
        self._leaving: set[OpenStream] = set()

    def __len__(self) -> int:
        return len(self._streams)

    def add(self, stream: OpenStream) -> None:
        self._streams.add(stream)

    def discard(self, stream: OpenStream) -> None:
        self._streams.discard(stream)
        self._leaving.discard(stream)

    def counts(self) -> Counter[str]:
        """How many there are of each transport."""
        return Counter(stream.transport_name for stream in self._streams)

    async def send_away(self, *, only_idle: bool) -> None:
        """End streams in batches, so that their clients do not come back at once."""
        going = [
            stream
            for stream in self._streams - self._leaving
            if stream.is_idle or not only_idle
        ]
        size = max(MIN_BATCH, len(going) // BATCHES + 1)
        for start in range(0, len(going), size):
            for stream in going[start : start + size]:
                if stream in self._streams:
                    self._leaving.add(stream)
                    stream.leave()
            await asyncio.sleep(BATCH_PAUSE_S)


def retry_frame() -> bytes:
    """Tells an event source when to come back: each one at another moment."""
    return b"retry: %d\n\n" % random.randint(*RETRY_MS)


open_streams = OpenStreams()
