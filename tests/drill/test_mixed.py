"""All faults at random, several at a time, under visitors of all kinds.

``LANTERN_DRILL_SEED`` is the number of the first plan, ``LANTERN_DRILLS`` how many are
done, and ``LANTERN_DRILL_FAULTS`` the faults of each.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable

import psycopg
import pytest

from tests.drill.books import check_books
from tests.drill.conftest import Site
from tests.drill.mixed_faults import Faults
from tests.drill.plans import FAULTS, Move, plan_of
from tests.drill.tally import PROPERTY
from tests.drill.visitors import Visitors
from tests.fakes.client import Client
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY

SEED = int(os.environ.get("LANTERN_DRILL_SEED", "1"))
FAULTS_EACH = int(os.environ.get("LANTERN_DRILL_FAULTS", "8"))
VISITS_EACH = 14
PATIENCE_S = 60.0
# A lease, a sweep, and what a busy machine needs for them.
SWEPT_S = 10.0
LAPSED = """
SELECT id FROM sessions_app_turn WHERE state = 'running' AND lease_until < now()
"""

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


async def test_mixed_faults_lose_and_repeat_nothing(
    site: Site,
    upstream: FakeUpstream,
    record_property: Callable[[str, object], None],
    request: pytest.FixtureRequest,
) -> None:
    callspec = getattr(request.node, "callspec", None)
    number = SEED + (callspec.params["drill_no"] if callspec else 0)
    plan = plan_of(number, FAULTS_EACH, VISITS_EACH)
    counts: Counter[str] = Counter()
    try:
        await drill(site, upstream, plan, counts)
    finally:
        record_property(PROPERTY, json.dumps(counts))
    assert sum(move.name in FAULTS for move in plan) == FAULTS_EACH
    assert sum(n for what, n in counts.items() if what.startswith("fault")) == (
        FAULTS_EACH
    )
    assert counts["turns"] == sum(
        n for what, n in counts.items() if what.startswith("end")
    )
    assert counts["turns"] >= VISITS_EACH / 2
    assert counts["events"] > counts["turns"]
    assert counts["end message_completed, completed"]


async def drill(
    site: Site, upstream: FakeUpstream, plan: list[Move], counts: Counter[str]
) -> None:
    """Do the plan, mend everything, and judge what came of it."""
    one, other = site.cluster.web
    async with Client(one.url, KEY) as a, Client(other.url, KEY) as b:
        visitors, faults = Visitors([a, b], upstream, counts), Faults(site, counts)
        visiting: list[asyncio.Task[None]] = []
        breaking: list[asyncio.Task[None]] = []
        try:
            for move in plan:
                await asyncio.sleep(move.pause_s)
                is_fault = move.name in FAULTS
                doing = (faults if is_fault else visitors).do(move)
                (breaking if is_fault else visiting).append(asyncio.create_task(doing))
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*breaking)
            await asyncio.to_thread(site.heal)
            await site.is_ready()
            await no_lapsed_turn(site.cluster.database_url)
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*visiting)
                await check_books(site.cluster.database_url)
                await visitors.judge()
        finally:
            for task in (*breaking, *visiting):
                task.cancel()
            await asyncio.gather(*breaking, *visiting, return_exceptions=True)


async def no_lapsed_turn(url: str) -> None:
    """Return once no turn runs past its lease; TimeoutError if one goes on."""

    def lapsed() -> list[tuple[str]]:
        with psycopg.connect(url) as connection:
            return connection.execute(LAPSED).fetchall()

    async with asyncio.timeout(SWEPT_S):
        while await asyncio.to_thread(lapsed):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
