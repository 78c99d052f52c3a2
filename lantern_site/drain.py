"""The end of a process that loses nothing: turns end, and clients come back elsewhere.

Readiness fails and no new turn is taken. Idle streams are ended in batches. Turns that
run get ``drain_s``; then those that showed nothing yet are handed over, the others are
ended. What listens until then hears the end of its turn before its stream is ended.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from sessions_app.edge.live.open_streams import open_streams
from sessions_app.engine.consumer import EngineTask
from sessions_app.lifecycle import lifecycle

logger = logging.getLogger(__name__)

SWEEP_S = 0.25
GOODBYE_S = 5.0
HASTE_AFTER_S = 1.0
"""A signal within that time of the first one is the same one, sent twice."""


class Drain:
    """Drains once; ``then`` is called when it is done.

    Running turns get ``drain_s``. ``is_busy`` says whether requests are still being
    answered.
    """

    def __init__(
        self,
        engine: EngineTask,
        then: Callable[[], None],
        drain_s: float,
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._engine = engine
        self._then = then
        self._drain_s = drain_s
        self._is_busy = is_busy
        self._task: asyncio.Task[None] | None = None
        self._began_at = 0.0

    def begin(self) -> None:
        """Begin; asked again a while later, the turns that run get no more time."""
        loop = asyncio.get_running_loop()
        if self._task is None:
            self._began_at = loop.time()
            self._task = loop.create_task(self._run())
        elif loop.time() - self._began_at > HASTE_AFTER_S:
            self._engine.hasten()

    async def _run(self) -> None:
        lifecycle.is_draining = True
        sweeping = asyncio.create_task(_send_idle_away())
        try:
            await self._engine.end_turns(self._drain_s)
            sweeping.cancel()
            await self._send_all_away()
            await self._engine.stop()
        except Exception:
            logger.exception("The server could not be drained.")
        finally:
            self._then()

    async def _send_all_away(self) -> None:
        """Let the readers hear the last ends, then end their streams."""
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + GOODBYE_S
        is_first = True
        while (open_streams or self._is_busy()) and loop.time() < give_up_at:
            await open_streams.send_away(only_idle=is_first)
            await asyncio.sleep(SWEEP_S if is_first else 0.02)
            is_first = False


async def _send_idle_away() -> None:
    """Those that come back while turns run here, too."""
    while True:
        await open_streams.send_away(only_idle=True)
        await asyncio.sleep(SWEEP_S)
