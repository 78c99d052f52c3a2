from __future__ import annotations

import pytest

from sessions_app.domain.errors import RateLimited
from sessions_app.edge.live.intake import HeldBodies


@pytest.fixture
def held(settings) -> HeldBodies:
    settings.LANTERN = {"max_held_body_bytes": 1000, "max_message_bytes": 300}
    return HeldBodies()


def test_all_together_hold_no_more_than_there_is(held: HeldBodies) -> None:
    for owner in ("a", "b"):
        held.take(owner, 500)
    with pytest.raises(RateLimited) as refused:
        held.take("c", 1)
    assert refused.value.details["retry_after_s"] > 0
    held.give_back("a", 500)
    held.take("c", 500)
    assert held.bytes == 1000


def test_one_address_leaves_room_for_others(held: HeldBodies) -> None:
    held.take("a", 500)
    with pytest.raises(RateLimited):
        held.take("a", 1)
    held.take("b", 300)


# A machine with little memory still takes files, one after the other.
def test_one_message_fits_whatever_the_share(held: HeldBodies, settings) -> None:
    settings.LANTERN = {"max_held_body_bytes": 400, "max_message_bytes": 300}
    held.take("a", 300)
    with pytest.raises(RateLimited):
        held.take("a", 1)


def test_nothing_is_kept_of_who_is_gone(held: HeldBodies) -> None:
    held.take("a", 5)
    held.give_back("a", 5)
    assert (held.bytes, dict(held._by_owner)) == (0, {})
