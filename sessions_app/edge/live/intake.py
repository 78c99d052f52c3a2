"""The long bodies that a process holds at a time: whose they are, and how many bytes.

A message with its files is up to 28 MiB, and read whole before it is understood. So who
sends one is known before it is read, and only so many bytes are held at once.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from sessions_app import service
from sessions_app.conf import conf
from sessions_app.domain.errors import LanternError, NotAllowed, RateLimited
from sessions_app.edge.body import too_long
from sessions_app.edge.errors import as_lantern_error
from sessions_app.edge.live.request import LiveRequest
from sessions_app.store.db import in_thread

RETRY_AFTER_S = 3
_SESSION = re.compile(r"/v1/sessions/([^/]+)/messages")


class HeldBodies:
    """Counts the bytes of long bodies, in all and by who sends them.

    One address holds half of what there is at most: a browser that sends many files at
    once leaves room for others.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self._by_owner: Counter[str] = Counter()

    def take(self, owner: str, size: int) -> None:
        """Count bytes in, or raise RateLimited."""
        most = conf().max_held_body_bytes
        # One message has to fit, however little there is for all.
        share = max(most // 2, min(most, conf().max_message_bytes))
        if self.bytes + size > most or self._by_owner[owner] + size > share:
            raise RateLimited(
                "Too many files are being received at this moment.",
                retry_after_s=RETRY_AFTER_S,
            )
        self.bytes += size
        self._by_owner[owner] += size

    def give_back(self, owner: str, size: int) -> None:
        """These bytes are held no more."""
        self.bytes -= size
        self._by_owner[owner] -= size
        if not self._by_owner[owner]:
            del self._by_owner[owner]


held_bodies = HeldBodies()


class Intake:
    """One request's body on its way to the application, which must not exceed a limit.

    ``error`` is why the body was cut off. To the application, such a body is one whose
    client has gone.
    """

    def __init__(self, scope: dict[str, Any], receive: Any, limit: int) -> None:
        self._scope = scope
        self._receive = receive
        self._limit = limit
        self._short = min(limit, conf().max_body_bytes)
        self._size = 0
        self._held = 0
        self._is_admitted = False
        self.error: LanternError | None = None

    async def receive(self) -> dict[str, Any]:
        """The next message for the application."""
        if self.error is None:
            message: dict[str, Any] = await self._receive()
            self._size += len(message.get("body", b""))
            if self._size > self._limit:
                self.error = too_long(self._limit)
            elif self._size > self._short:
                await self._hold()
            if self.error is None:
                return message
        return {"type": "http.disconnect"}

    async def admit(self) -> None:
        """Find out whether the caller may send a long body; ``error`` if not."""
        self._is_admitted = True
        try:
            await in_thread(_require_sender, LiveRequest(self._scope))
        except Exception as error:
            self.error = as_lantern_error(error)

    async def _hold(self) -> None:
        if not self._is_admitted:
            await self.admit()
        if self.error is None:
            more = self._size - self._held
            try:
                held_bodies.take(self._owner, more)
            except RateLimited as error:
                self.error = error
            else:
                self._held += more

    def let_go(self) -> None:
        """The body has been understood, or is not wanted any more."""
        held, self._held = self._held, 0
        if held:
            held_bodies.give_back(self._owner, held)

    @property
    def _owner(self) -> str:
        client = self._scope.get("client")
        return client[0] if client else ""


def _require_sender(request: LiveRequest) -> None:
    """Refuse whoever could not post files here anyway; without them all is short."""
    if request.header("authorization") is None:
        raise too_long(conf().max_body_bytes)  # staff, who send no files
    principal = request.principal()
    principal.require_scope("sessions")
    principal.require_write()
    found = _SESSION.fullmatch(request.scope["path"])
    try:
        service.require_attachments(principal.caller, found[1] if found else "")
    except NotAllowed as error:
        raise too_long(conf().max_body_bytes) from error
