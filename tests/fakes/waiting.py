"""Waiting for something that another task or process does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


async def until(is_so: Callable[[], object], timeout_s: float = 5.0) -> float:
    """Seconds until the condition held; TimeoutError if it does not come to."""
    start = time.monotonic()
    while not is_so():
        if time.monotonic() - start > timeout_s:
            raise TimeoutError("what was waited for did not come")
        await asyncio.sleep(0.005)
    return time.monotonic() - start
