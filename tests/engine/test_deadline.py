"""Limits on silence."""

from __future__ import annotations

import asyncio
import time

import pytest

from sessions_app.domain.errors import ProviderTimeout
from sessions_app.engine.deadline import Deadline


async def test_idle_limit_counts_from_first_content() -> None:
    # The timer stood at the limit of the first content, and a shorter limit between
    # content was noticed only then: 30 s late.
    begin = time.monotonic()
    limits = Deadline(first_s=30, idle_s=0.05)
    with pytest.raises(ProviderTimeout), limits as deadline:
        deadline.touch()
        await asyncio.sleep(5)
    assert time.monotonic() - begin < 1


async def test_content_puts_idle_limit_off() -> None:
    with Deadline(first_s=30, idle_s=0.1) as deadline:
        for _ in range(6):
            deadline.touch()
            await asyncio.sleep(0.04)


async def test_first_limit_ends_silence() -> None:
    with pytest.raises(ProviderTimeout), Deadline(first_s=0.05, idle_s=30):
        await asyncio.sleep(5)
