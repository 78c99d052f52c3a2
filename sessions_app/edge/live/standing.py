"""Whether the credential that opened a stream or socket still stands."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable

from sessions_app.domain.errors import RequestError, Unauthorized
from sessions_app.edge.auth import Principal
from sessions_app.edge.errors import as_lantern_error
from sessions_app.edge.live.open_streams import open_streams
from sessions_app.store.db import in_thread

SCOPE = "sessions"
LOOK_S = 60.0
LOOK_PATIENCE_S = 0.2
LOOKS_PER_S = 50
CHANGED = "What this credential may see has changed; connect again."


class Standing:
    """The caller of something that stays open, looked up again while it is.

    ``look_up`` is called on the store's threads; it raises RequestError once the
    credential is revoked, has run out or came from an origin that is not listed now.

    Followers are looked at with their heartbeats and events, after LOOK_S seconds at
    most, and later where there are many: a look costs one to four short queries,
    measured at 0.2 ms of the processor for a key, 0.6 for a visitor, 0.9 for staff.
    LOOKS_PER_S bounds that to 1, 3 or 5 % of a core, so that a process with 5,000 idle
    streams needs up to 100 seconds to see them all.
    """

    def __init__(self, principal: Principal, look_up: Callable[[], Principal]) -> None:
        principal.require_scope(SCOPE)
        self.principal = principal
        self._look_up = look_up
        self._look: asyncio.Task[RequestError | None] | None = None
        # Streams that came back together shall not be looked at together.
        self._due = time.monotonic() + _pause_s() * random.uniform(0.5, 1.0)

    def renew(self) -> Principal:
        """The principal with the rights of now; blocks, raises RequestError.

        One that sees other sessions than before is refused as well: what is followed
        was chosen by what it saw.
        """
        principal = self._look_up()
        principal.require_scope(SCOPE)
        if principal.caller.scope != self.principal.caller.scope:
            raise Unauthorized(CHANGED)
        self.principal = principal
        return principal

    @property
    def is_due(self) -> bool:
        """Whether ``refusal`` would look, or has looked."""
        return self._look is not None or time.monotonic() >= self._due

    async def refusal(self) -> RequestError | None:
        """Why it has to end, looked at now and then; None if it may go on.

        A look may have to wait for the database; who is followed does not.
        """
        if not self.is_due:
            return None
        if self._look is None:
            self._due = time.monotonic() + _pause_s()
            self._look = asyncio.create_task(self._refusal())
            await asyncio.wait({self._look}, timeout=LOOK_PATIENCE_S)
        if not self._look.done():
            return None
        look, self._look = self._look, None
        return look.result()

    async def _refusal(self) -> RequestError | None:
        try:
            await in_thread(self.renew)
        except Exception as error:
            known = as_lantern_error(error)
            # Streams go on while the database is down.
            return known if isinstance(known, RequestError) else None
        return None


def _pause_s() -> float:
    return max(LOOK_S, len(open_streams) / LOOKS_PER_S)
