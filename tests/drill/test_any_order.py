"""Faults and visits in whatever order Hypothesis comes upon, side by side.

Its rules only begin a fault or a visit, which goes on beside the next ones. Orders that
fail are not made smaller: processes do not fail twice in the same way. Done once, they
are the same each time; with ``LANTERN_DRILLS`` others each time.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.drill.conftest import DRILLS, Site
from tests.drill.mix import Mix
from tests.drill.plans import FAULTS, POSTS, VISITS, Move
from tests.drill.tally import PROPERTY
from tests.fakes.fake_upstream import FakeUpstream

MOST_FAULTS = 8
STEPS = 18
# The first of Hypothesis' examples is the least that it can draw.
EXAMPLES = 3
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=STEPS,
    derandomize=DRILLS == 1,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

Run = Callable[[Coroutine[Any, Any, Any]], Any]

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


def moves(*names: str) -> st.SearchStrategy[Move]:
    return st.builds(
        Move,
        name=st.sampled_from(names),
        which=st.integers(0, 999),
        pause_s=st.floats(0.05, 0.8),
        lasts_s=st.floats(0.3, 2.5),
    )


class AnyOrder(RuleBasedStateMachine):
    """What may happen next; ``run`` and ``mix`` are set before it is run."""

    run: Run
    mix: Callable[[], Mix]

    def __init__(self) -> None:
        super().__init__()
        self.going = type(self).mix()
        self.faults = 0
        type(self).run(self.going.__aenter__())

    @initialize(first=moves(*POSTS), second=moves(*POSTS))
    def some_come(self, first: Move, second: Move) -> None:
        for move in (first, second):
            type(self).run(self.going.begin(move))

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(move=moves(*FAULTS))
    def something_breaks(self, move: Move) -> None:
        self.faults += 1
        type(self).run(self.going.begin(move))

    @rule(move=moves(*VISITS))
    def somebody_comes(self, move: Move) -> None:
        type(self).run(self.going.begin(move))

    def teardown(self) -> None:
        async def end() -> None:
            try:
                await self.going.judge()
            finally:
                await self.going.__aexit__()

        type(self).run(end())


async def test_faults_in_any_order_lose_and_repeat_nothing(
    site: Site,
    upstream: FakeUpstream,
    record_property: Callable[[str, object], None],
) -> None:
    loop = asyncio.get_running_loop()
    counts: Counter[str] = Counter()

    class Machine(AnyOrder):
        run = staticmethod(
            lambda work: asyncio.run_coroutine_threadsafe(work, loop).result()
        )
        mix = staticmethod(lambda: Mix(site, upstream, counts))

    try:
        await asyncio.to_thread(run_state_machine_as_test, Machine, settings=SETTINGS)
    finally:
        record_property(PROPERTY, json.dumps(counts))
    faults = sum(n for what, n in counts.items() if what.startswith("fault"))
    ends = sum(n for what, n in counts.items() if what.startswith("end"))
    assert faults >= EXAMPLES
    assert counts["turns"] == ends >= 2 * EXAMPLES
