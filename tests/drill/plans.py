"""Plans of mixed faults; the same number is the same plan anywhere.

What Hypothesis draws from a seed depends on the modules that are loaded: a number that
failed on one machine would be another plan when it is done alone. ``test_any_order.py``
has it choose all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

FAULTS = (
    "worker_killed",
    "worker_frozen",
    "worker_asked_to_stop",
    "web_killed",
    "redis_killed",
    "redis_frozen",
    "redis_restored",
    "redis_reset",
    "bells_lost",
    "database_reset",
    "database_cut_off",
    "database_down",
    "upstream_silent",
    "upstream_reset",
    "upstream_truncated",
)
POSTS = ("steady", "resuming", "slow", "vanishing")
VISITS = (*POSTS, *POSTS, "again", "cancel", "follow")


@dataclass(frozen=True)
class Move:
    """``name`` is a fault or a visit; ``which`` chooses what it is done to or by."""

    name: str
    which: int
    pause_s: float
    lasts_s: float


def plan_of(number: int, faults: int, visits: int) -> list[Move]:
    """The plan with this number: moves that begin with two posts.

    No fault comes again before all have come.
    """
    chance = Random(number)
    names: list[str] = []
    while len(names) < faults:
        names += chance.sample(FAULTS, len(FAULTS))
    order = [*names[:faults], *chance.choices(VISITS, k=visits)]
    chance.shuffle(order)
    return [_move(chance, name) for name in [*POSTS[:2], *order]]


def _move(chance: Random, name: str) -> Move:
    which = chance.randrange(1_000)
    return Move(name, which, chance.uniform(0.05, 0.8), chance.uniform(0.3, 2.5))
