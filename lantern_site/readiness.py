"""Whether database, log and channel layer answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

from channels.layers import get_channel_layer
from django.db import connection

from sessions_app.bus import get_bus
from sessions_app.store.db import in_thread

logger = logging.getLogger(__name__)

PATIENCE_S = 3.0
FRESH_S = 1.0
NOBODY = "lantern.ready"


class _Asked:
    """One round of questions; whoever comes soon after has its answers, too."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.answers = self.loop.create_task(_ask())
        self._at = self.loop.time()

    @property
    def is_fresh(self) -> bool:
        return not self.answers.done() or self.loop.time() - self._at < FRESH_S


_asked: _Asked | None = None


async def ready_parts() -> dict[str, bool]:
    """Each part and whether it answers in time, as of the last second.

    Anybody may ask, and each round costs the database, Redis and the layer a question.
    """
    global _asked
    asked = _asked
    if (
        asked is None
        or asked.loop is not asyncio.get_running_loop()
        or not asked.is_fresh
    ):
        asked = _asked = _Asked()
    return await asyncio.shield(asked.answers)


async def _ask() -> dict[str, bool]:
    parts = {
        "database": in_thread(_ask_database),
        "log": get_bus().log.head_n(NOBODY, 1),
        "layer": get_channel_layer().group_send(NOBODY, {"type": "ready.check"}),
    }
    answers = await asyncio.gather(*(_answers(*part) for part in parts.items()))
    return dict(zip(parts, answers, strict=True))


async def _answers(name: str, question: Awaitable[object]) -> bool:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await question
    except Exception as error:
        logger.warning("Not ready, %s: %s", name, str(error) or type(error).__name__)
        return False
    return True


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
