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
NOBODY = "lantern.ready"


async def ready_parts() -> dict[str, bool]:
    """Each part and whether it answers in time."""
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
