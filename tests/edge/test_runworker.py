"""The command of a worker, without a process of its own."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
from django.core.management import call_command

from lantern_site.management.commands.runworker import Command


@pytest.fixture
def interpreter() -> Iterator[None]:
    """Set back afterwards."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)
    gc.unfreeze()


# It ran with Python's own, which stopped all its streams for 100 ms now and then.
def test_worker_is_set_up_for_streams_as_a_server_is(
    monkeypatch: pytest.MonkeyPatch, settings: object, interpreter: None
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    found: list[tuple[object, ...]] = []

    async def run(self: Command, drain_s: float) -> None:
        found.append((gc.get_threshold(), gc.get_freeze_count() > 1000))
        found.append((round(sys.getswitchinterval(), 5),))

    monkeypatch.setattr(Command, "_run", run)
    monkeypatch.setattr(Command, "check_migrations", lambda self: None)
    call_command("runworker")
    assert found == [((5_000, 10, 20), True), (0.0005,)]
