"""Making a session and posting a message, ahead of Django's handler.

Each turn begins with them: here they take a quarter of the CPU that they take behind
Django's middleware, which gives each request a thread and a database connection of its
own. Requests with the staff cookie need it and go there.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from sessions_app import service
from sessions_app.bus import get_bus
from sessions_app.conf import conf
from sessions_app.domain.cursor import Cursor
from sessions_app.domain.events import StatusIdle
from sessions_app.edge.body import decode_object
from sessions_app.edge.live.request import LiveRequest
from sessions_app.edge.live.sse import Batches, Opened, StreamConsumer
from sessions_app.edge.live.standing import SCOPE, Standing
from sessions_app.edge.live.tail import tail
from sessions_app.edge.posting import make_session, message_of, require_message_pace
from sessions_app.edge.rest.shapes import posted_object, session_object
from sessions_app.store.db import in_thread
from sessions_app.store.posting import PostedTurn

REPLAYED = ((b"idempotency-replayed", b"true"),)


class SessionsConsumer(StreamConsumer):
    """``POST /v1/sessions``"""

    route = "/v1/sessions"

    async def open(self, request: LiveRequest, body: bytearray) -> Opened:
        return Opened(status=201, body=await in_thread(_make, request, body))


def _make(request: LiveRequest, body: bytearray) -> dict[str, Any]:
    principal = request.principal()
    principal.require_scope(SCOPE)
    principal.require_write("add")
    request.query()
    session = make_session(principal, decode_object(body), request.address)
    return session_object(session)


class MessageConsumer(StreamConsumer):
    """``POST /v1/sessions/{id}/messages``, answered at once or with its events."""

    route = "/v1/sessions/<str:session_id>/messages"

    async def open(self, request: LiveRequest, body: bytearray) -> Opened:
        session_id = self.scope["session_id"]
        posted, standing = await in_thread(_accept, request, session_id, body)
        await service.wake(posted)
        headers = REPLAYED if posted.is_replay else ()
        if self.scope["is_stream_wanted"]:
            return Opened(_turn_events(posted), standing, headers)
        return Opened(headers=headers, status=202, body=posted_object(posted))


def _accept(
    request: LiveRequest, session_id: str, body: bytearray
) -> tuple[PostedTurn, Standing]:
    request.query()
    standing = request.standing()
    principal = standing.principal
    principal.require_write()
    require_message_pace(principal, session_id, request.address)
    message = message_of(
        decode_object(body, conf().max_message_bytes),
        request.header("idempotency-key"),
        has_content=True,
    )
    return service.accept_message(principal.caller, session_id, message), standing


async def _turn_events(posted: PostedTurn) -> Batches:
    """The events of this turn alone, to its end."""
    start = Cursor(posted.ordinal, 0)
    batches = tail(get_bus(), posted.session_id, start, is_new=not posted.is_replay)
    async with aclosing(batches):
        async for entries in batches:
            mine = [e for e in entries if e.cursor.turn == posted.ordinal]
            yield mine
            if not mine:
                continue
            last = mine[-1]
            if last.kind == StatusIdle.kind:
                return
            if last.is_terminal:
                # Told from the database, the end stands alone.
                log = get_bus().log
                head_n = await log.head_n(posted.session_id, posted.ordinal)
                if (head_n or 0) <= last.cursor.n:
                    return
