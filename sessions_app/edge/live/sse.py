"""Event streams over HTTP, ahead of Django's handler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from channels.consumer import AsyncConsumer, get_handler_name
from channels.exceptions import StopConsumer

from sessions_app.bus import get_bus
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.errors import BadCursor, LanternError
from sessions_app.domain.events import StatusIdle
from sessions_app.edge.errors import WrongMethod, as_lantern_error
from sessions_app.edge.live.answers import PRIVATE, Headers, answer, refuse
from sessions_app.edge.live.open_streams import open_streams, retry_frame
from sessions_app.edge.live.openings import Opening, openings, shown_n
from sessions_app.edge.live.request import LiveRequest
from sessions_app.edge.live.standing import Standing
from sessions_app.edge.live.tail import tail
from sessions_app.telemetry import counts
from sessions_app.wire.payload import Entry

logger = logging.getLogger(__name__)

OPEN = b": open\n\n"
HEARTBEAT = b": heartbeat\n\n"
PIECE_BYTES = 32_768

STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    *PRIVATE,
]

Batches = AsyncGenerator[list[Entry], None]


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream of batches, or a JSON answer if there are none.

    The stream ends once the credential behind ``standing`` is gone.
    """

    batches: Batches | None = None
    standing: Standing | None = None
    headers: Headers = ()
    status: int = 200
    body: Any = None


class StreamConsumer(AsyncConsumer):  # type: ignore[misc]
    """Answers one request with a stream that its client may leave at any time."""

    transport_name = "sse"
    route = ""
    is_idle = False
    _is_leaving = False

    def __init__(self) -> None:
        self._body = bytearray()
        self._answer: asyncio.Task[None] | None = None

    def leave(self) -> None:
        """End the stream with a word of when to come back."""
        self._is_leaving = True
        if self._answer is not None:
            self._answer.cancel()

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
            # Kept, it would keep its exception, whose traceback keeps this object.
            answer, self._answer = self._answer, None
            answer.cancel()
            await asyncio.gather(answer, return_exceptions=True)
        raise StopConsumer

    async def open(self, request: LiveRequest, body: bytearray) -> Opened:
        """What to answer with; raises a LanternError to refuse."""
        raise NotImplementedError

    async def _serve(self) -> None:
        # A copy of it, or one kept to the end of a stream, may be 28 MiB.
        body, self._body = self._body, bytearray()
        try:
            opened = await self.open(LiveRequest(self.scope), body)
        except Exception as error:
            refused = as_lantern_error(error)
            self._count(refused.http_status)
            await refuse(self.send, refused)
            return
        del body
        self._count(opened.status)
        if opened.batches is None:
            await answer(self.send, opened.status, opened.headers, opened.body)
        else:
            await self._stream(opened.batches, opened)

    def _count(self, status: int) -> None:
        # The routing lets only known paths come here, with any method.
        method = "POST" if self.scope["method"] == "POST" else "GET"
        counts.requests[method, self.route, status] += 1

    async def _stream(self, batches: Batches, opened: Opened) -> None:
        try:
            async with aclosing(batches):
                await self._send_all(batches, opened)
        except asyncio.CancelledError:
            if not self._is_leaving:
                raise
            await self._write(retry_frame())
        except Exception:
            logger.exception("An event stream failed.")
        finally:
            open_streams.discard(self)
        await self.send({"type": "http.response.body", "body": b""})

    async def _send_all(self, batches: Batches, opened: Opened) -> None:
        is_open = False
        async for entries in batches:
            standing = opened.standing
            if standing is not None and standing.is_due and await standing.refusal():
                return  # whoever comes back is told why
            if not is_open:  # the subscription stands
                is_open = True
                await self.send(
                    {
                        "type": "http.response.start",
                        "status": 200,
                        "headers": [*STREAM_HEADERS, *opened.headers],
                    }
                )
                await self._write(OPEN)
                open_streams.add(self)
            elif entries:
                self.is_idle = entries[-1].kind == StatusIdle.kind
                for piece in _pieces([entry.sse for entry in entries]):
                    await self._write(piece)
            else:
                await self._write(HEARTBEAT)

    def _write(self, body: bytes) -> Awaitable[None]:
        piece = {"type": "http.response.body", "body": body, "more_body": True}
        sending: Awaitable[None] = self.base_send(piece)
        return sending


def _pieces(frames: list[bytes]) -> Iterable[bytes]:
    """All bytes in few pieces, none so long that a stalled reader holds much."""
    if len(frames) == 1 and len(frames[0]) <= PIECE_BYTES:
        return frames
    return _bounded(frames)


def _bounded(frames: list[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    size = 0
    for frame in frames:
        if waiting and size + len(frame) > PIECE_BYTES:
            yield b"".join(waiting)
            waiting, size = [], 0
        if len(frame) > PIECE_BYTES:
            for start in range(0, len(frame), PIECE_BYTES):
                yield frame[start : start + PIECE_BYTES]
        else:
            waiting.append(frame)
            size += len(frame)
    if waiting:
        yield b"".join(waiting)


class EventsConsumer(StreamConsumer):
    """``GET /v1/sessions/{id}/events``"""

    is_idle = True
    route = "/v1/sessions/<str:session_id>/events"

    async def open(self, request: LiveRequest, body: bytearray) -> Opened:
        if self.scope["method"] != "GET":
            raise WrongMethod("GET")
        session_id = self.scope["session_id"]
        cursor, bad_cursor = _cursor_of(request)
        logged_n: int | None = 0
        if cursor is not None:
            logged_n = await shown_n(session_id, cursor)
        opening = Opening(request, session_id, cursor, bad_cursor, logged_n)
        start, standing = await openings.call(opening)
        return Opened(tail(get_bus(), session_id, start), standing)


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
