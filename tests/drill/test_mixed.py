"""All faults at random, several at a time, under visitors of all kinds.

``LANTERN_DRILL_SEED`` is the number of the first plan, ``LANTERN_DRILLS`` how many are
done, and ``LANTERN_DRILL_FAULTS`` the faults of each.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable

import pytest

from tests.drill.conftest import Site
from tests.drill.mix import Mix
from tests.drill.plans import FAULTS, Move, plan_of
from tests.drill.tally import PROPERTY
from tests.fakes.fake_upstream import FakeUpstream

SEED = int(os.environ.get("LANTERN_DRILL_SEED", "1"))
FAULTS_EACH = int(os.environ.get("LANTERN_DRILL_FAULTS", "8"))
VISITS_EACH = 14

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
    async with Mix(site, upstream, counts) as mix:
        for move in plan:
            await mix.begin(move)
        await mix.judge()
