"""The event stream over HTTP, ahead of Django's handler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import BadCursor, LanternError
from sessions_app.domain.events import StatusIdle
from sessions_app.edge.body import decode_object
from sessions_app.edge.errors import WrongMethod, as_lantern_error
from sessions_app.edge.live.refusal import PRIVATE, refuse
from sessions_app.edge.live.request import LiveRequest
from sessions_app.edge.live.tail import tail
from sessions_app.edge.posting import message_of, require_visitor_pace
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn
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


class StreamConsumer(AsyncConsumer):  # type: ignore[misc]
    """Answers one request with a stream that its client may leave at any time."""

    # No wake-ups come this way, so a stream needs no channel of its own.
    channel_layer_alias = ""

    def __init__(self) -> None:
        self._body = bytearray()
        self._answer: asyncio.Task[None] | None = None
        self.extra_headers: list[tuple[bytes, bytes]] = []

    async def dispatch(self, message: dict[str, Any]) -> None:
        # The base class would visit a thread to close database connections.
        await getattr(self, get_handler_name(message))(message)

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

    async def open(self, request: LiveRequest, body: bytes) -> Batches:
        """The batches to send; raises a LanternError to refuse."""
        raise NotImplementedError

    async def _serve(self) -> None:
        try:
            batches = await self.open(LiveRequest(self.scope), bytes(self._body))
        except Exception as error:
            await refuse(self.send, as_lantern_error(error))
            return
        self._body.clear()
        try:
            async with aclosing(batches):
                await self._send_all(batches)
        except Exception:
            logger.exception("An event stream failed.")
        await self.send({"type": "http.response.body", "body": b""})

    async def _send_all(self, batches: Batches) -> None:
        is_open = False
        async for entries in batches:
            if not is_open:  # the subscription stands
                is_open = True
                await self._start()
                await self._write(OPEN)
            elif entries:
                await self._write(b"".join([entry.sse for entry in entries]))
            else:
                await self._write(HEARTBEAT)

    async def _write(self, body: bytes) -> None:
        await self.send({"type": "http.response.body", "body": body, "more_body": True})

    async def _start(self) -> None:
        headers = [*STREAM_HEADERS, *self.extra_headers]
        await self.send(
            {"type": "http.response.start", "status": 200, "headers": headers}
        )


class EventsConsumer(StreamConsumer):
    """``GET /v1/sessions/{id}/events``"""

    async def open(self, request: LiveRequest, body: bytes) -> Batches:
        if self.scope["method"] != "GET":
            raise WrongMethod("GET")
        session_id = self.scope["session_id"]
        cursor, bad_cursor = _cursor_of(request)
        logged_n = 0
        if cursor is not None:
            logged_n = await get_bus().log.head_n(session_id, cursor.turn)
        start = await in_thread(
            self._start_of, request, session_id, cursor, bad_cursor, logged_n
        )
        return tail(get_bus(), session_id, start)

    def _start_of(
        self,
        request: LiveRequest,
        session_id: str,
        cursor: Cursor | None,
        bad_cursor: BadCursor | None,
        logged_n: int,
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


class MessageStreamConsumer(StreamConsumer):
    """``POST /v1/sessions/{id}/messages`` with ``Accept: text/event-stream``"""

    async def open(self, request: LiveRequest, body: bytes) -> Batches:
        session_id = self.scope["session_id"]
        posted = await in_thread(self._post, request, session_id, body)
        if posted.is_replay:
            self.extra_headers.append((b"idempotency-replayed", b"true"))
        return self._turn_events(posted)

    def _post(self, request: LiveRequest, session_id: str, body: bytes) -> PostedTurn:
        request.query()
        principal = request.principal()
        principal.require_scope("sessions")
        principal.require_write()
        require_visitor_pace(principal, request.address)
        message = message_of(
            decode_object(body), request.header("idempotency-key"), has_content=True
        )
        return service.post_message(principal.caller, session_id, message)

    async def _turn_events(self, posted: PostedTurn) -> Batches:
        """The events of this turn alone, to its end."""
        log = get_bus().log
        start = Cursor(posted.ordinal, 0)
        async with aclosing(tail(get_bus(), posted.session_id, start)) as batches:
            async for entries in batches:
                mine = [e for e in entries if e.cursor.turn == posted.ordinal]
                yield mine
                if not mine:
                    continue
                if mine[-1].kind == StatusIdle.kind:
                    return
                # Told from the database, the end stands alone.
                last = mine[-1]
                logged_n = await log.head_n(posted.session_id, posted.ordinal)
                if last.is_terminal and logged_n <= last.cursor.n:
                    return
