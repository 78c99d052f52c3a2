"""A small client for tests: it shows what is on the wire and mends nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx

IDLE = "session.status_idle"
TERMINAL = ("message_completed", "message_error", "turn_failed")


class Unavailable(AssertionError):
    """The server asks to come again later (429, 503)."""


@dataclass(frozen=True)
class Event:
    """One event as it came; heartbeats have the kind ``:``."""

    id: str
    kind: str
    data: Any

    @property
    def n(self) -> int:
        return int(self.id.partition("-")[2])


@dataclass(frozen=True)
class Posted:
    """An accepted message."""

    session_id: str
    turn_id: str
    cursor: str


class Client:
    """One caller; ``async with`` it."""

    def __init__(self, url: str, key: str) -> None:
        self.http = httpx.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=40,  # heartbeats come every 15 s
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def create(self, **fields: Any) -> str:
        """A new session's id."""
        answer = await self.http.post("/v1/sessions", json=fields)
        expect(answer, 201)
        return str(answer.json()["id"])

    async def post(
        self, session_id: str, content: str = "hello", key: str = "", **fields: Any
    ) -> Posted:
        """A message that was accepted."""
        answer = await self.http.post(
            f"/v1/sessions/{session_id}/messages",
            json={"content": content, **fields},
            headers={"Idempotency-Key": key} if key else {},
        )
        expect(answer, 202)
        body = answer.json()
        return Posted(body["sessionId"], body["turnId"], body["cursor"])

    async def cancel(self, posted: Posted) -> None:
        """Stop a turn."""
        path = f"/v1/sessions/{posted.session_id}/turns/{posted.turn_id}/cancel"
        answer = await self.http.post(path)
        expect(answer, 200, 202, 204)

    async def turn(self, posted: Posted) -> Any:
        """The turn as REST shows it."""
        return await self.get(
            f"/v1/sessions/{posted.session_id}/turns/{posted.turn_id}"
        )

    async def messages(self, session_id: str) -> list[Any]:
        """The first page of the transcript."""
        page = await self.get(f"/v1/sessions/{session_id}/messages")
        return list(page["data"])

    async def get(self, path: str) -> Any:
        """Any JSON."""
        answer = await self.http.get(path)
        expect(answer, 200)
        return answer.json()

    async def events(
        self, session_id: str, after: str | None = None
    ) -> AsyncGenerator[Event, None]:
        """The stream as it comes; close it to hang up."""
        headers = {"Last-Event-ID": after} if after is not None else {}
        path = f"/v1/sessions/{session_id}/events"
        async with self.http.stream("GET", path, headers=headers) as answer:
            if answer.status_code != 200:
                await answer.aread()
            expect(answer, 200)
            rest = b""
            async for raw in answer.aiter_raw():
                *blocks, rest = (rest + raw).split(b"\n\n")
                for block in blocks:
                    yield parse(block.decode())

    async def until_idle(self, posted: Posted, after: str = "") -> list[Event]:
        """All events of a turn after a cursor, to its idle state."""
        found = []
        start = after or posted.cursor
        async with aclosing(self.events(posted.session_id, start)) as stream:
            async for event in stream:
                if event.id:
                    found.append(event)
                if event.kind == IDLE:
                    break
        return found

    async def first(self, kind: str, posted: Posted, count: int = 1) -> list[Event]:
        """The events of a turn up to the ``count``-th of a kind; then hang up."""
        found: list[Event] = []
        async with aclosing(self.events(posted.session_id, posted.cursor)) as stream:
            async for event in stream:
                found.append(event)
                count -= event.kind == kind
                if count == 0:
                    break
        return found

    async def ended(self, posted: Posted, timeout_s: float = 10.0) -> Any:
        """The turn, once it has ended."""
        async with asyncio.timeout(timeout_s):
            while True:
                turn = await self.turn(posted)
                if turn["status"] in ("completed", "cancelled", "failed"):
                    return turn
                await asyncio.sleep(0.02)


def expect(answer: httpx.Response, *statuses: int) -> None:
    """Fail unless the answer has one of these; Unavailable if it is 429 or 503.

    The body must have been read if it has none of them.
    """
    if answer.status_code in {429, 503} - set(statuses):
        raise Unavailable(answer.text)
    assert answer.status_code in statuses, answer.text


def parse(block: str) -> Event:
    """One block of an event stream."""
    fields: dict[str, str] = {}
    for line in block.split("\n"):
        name, _, value = line.partition(":")
        fields[name] = value.removeprefix(" ")
    data = json.loads(fields["data"]) if "data" in fields else fields.get("")
    return Event(fields.get("id", ""), fields.get("event", ":"), data)


def deltas(events: list[Event]) -> Iterator[str]:
    """The text of a turn, piece by piece."""
    return (event.data["delta"] for event in events if event.kind == "message_delta")


def check_turn(events: list[Event]) -> None:
    """No gap, no repeat, one end."""
    assert [event.n for event in events] == list(range(1, len(events) + 1))
    seqs = [event.data["seq"] for event in events if event.kind == "message_delta"]
    assert seqs == list(range(1, len(seqs) + 1))
    ends = [event for event in events if event.kind in TERMINAL]
    assert len(ends) == 1
    if ends[0].kind == "message_completed":
        assert "".join(deltas(events)) == ends[0].data["text"]
