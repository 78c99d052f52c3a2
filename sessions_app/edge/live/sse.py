"""Event streams over HTTP, ahead of Django's handler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import BadCursor, LanternError
from sessions_app.edge.errors import WrongMethod, as_lantern_error
from sessions_app.edge.live.answers import PRIVATE, Headers, answer, refuse
from sessions_app.edge.live.request import LiveRequest
from sessions_app.edge.live.tail import tail
from sessions_app.store.db import in_thread
from sessions_app.wire.payload import Entry

logger = logging.getLogger(__name__)

OPEN = b": open\n\n"
HEARTBEAT = b": heartbeat\n\n"

STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    *PRIVATE,
]

Batches = AsyncGenerator[list[Entry], None]


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream of batches, or a JSON answer if there are none."""

    batches: Batches | None = None
    headers: Headers = ()
    status: int = 200
    body: Any = None


class StreamConsumer(AsyncConsumer):  # type: ignore[misc]
    """Answers one request with a stream that its client may leave at any time."""

    def __init__(self) -> None:
        self._body = bytearray()
        self._answer: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # The base class would keep a task and a channel for each open stream, and
        # visit a thread at each message to close database connections.
        self.scope, self.base_send = scope, send
        try:
            while True:
                message = await receive()
                await getattr(self, get_handler_name(message))(message)
        except StopConsumer:
            return

    async def http_request(self, message: dict[str, Any]) -> None:
        if self._answer is not None:
            return
        self._body += message.get("body", b"")
        if not message.get("more_body"):
            self._answer = asyncio.create_task(self._serve())

    async def http_disconnect(self, message: dict[str, Any]) -> None:
        if self._answer is not None:
            self._answer.cancel()
            await asyncio.gather(self._answer, return_exceptions=True)
        raise StopConsumer

    async def open(self, request: LiveRequest, body: bytes) -> Opened:
        """What to answer with; raises a LanternError to refuse."""
        raise NotImplementedError

    async def _serve(self) -> None:
        try:
            opened = await self.open(LiveRequest(self.scope), bytes(self._body))
        except Exception as error:
            await refuse(self.send, as_lantern_error(error))
            return
        self._body.clear()
        if opened.batches is None:
            await answer(self.send, opened.status, opened.headers, opened.body)
        else:
            await self._stream(opened.batches, opened.headers)

    async def _stream(self, batches: Batches, headers: Headers) -> None:
        try:
            async with aclosing(batches):
                await self._send_all(batches, headers)
        except Exception:
            logger.exception("An event stream failed.")
        await self.send({"type": "http.response.body", "body": b""})

    async def _send_all(self, batches: Batches, headers: Headers) -> None:
        is_open = False
        async for entries in batches:
            if not is_open:  # the subscription stands
                is_open = True
                await self.send(
                    {
                        "type": "http.response.start",
                        "status": 200,
                        "headers": [*STREAM_HEADERS, *headers],
                    }
                )
                await self._write(OPEN)
            elif entries:
                await self._write(b"".join([entry.sse for entry in entries]))
            else:
                await self._write(HEARTBEAT)

    async def _write(self, body: bytes) -> None:
        await self.base_send(
            {"type": "http.response.body", "body": body, "more_body": True}
        )


class EventsConsumer(StreamConsumer):
    """``GET /v1/sessions/{id}/events``"""

    async def open(self, request: LiveRequest, body: bytes) -> Opened:
        if self.scope["method"] != "GET":
            raise WrongMethod("GET")
        session_id = self.scope["session_id"]
        cursor, bad_cursor = _cursor_of(request)
        logged_n: int | None = 0
        if cursor is not None:
            logged_n = await get_bus().log.head_n(session_id, cursor.turn)
        start = await in_thread(
            self._start_of, request, session_id, cursor, bad_cursor, logged_n
        )
        return Opened(batches=tail(get_bus(), session_id, start))

    def _start_of(
        self,
        request: LiveRequest,
        session_id: str,
        cursor: Cursor | None,
        bad_cursor: BadCursor | None,
        logged_n: int | None,
    ) -> Cursor:
        query = request.query("after", "ticket")
        ticket = query.get("ticket")
        principal = request.principal(
            ticket=(ticket, session_id) if ticket else None, allow_cookie=True
        )
        principal.require_scope("sessions")
        start = service.find_start(principal.caller, session_id, cursor)
        if bad_cursor is not None:
            raise bad_cursor
        if cursor is not None:
            service.check_cursor(session_id, cursor, logged_n)
        return start


def _cursor_of(request: LiveRequest) -> tuple[Cursor | None, BadCursor | None]:
    """The reader's cursor; a bad one is kept until the caller is known."""
    # EventSource repeats the URL when it reconnects, so the header is the newer one.
    text = request.header("last-event-id")
    try:
        if text is None:
            text = request.query("after", "ticket").get("after")
        return (None if text is None else Cursor.parse(text)), None
    except BadCursor as error:
        return None, error
    except LanternError:
        return None, None  # refused again, in its turn
