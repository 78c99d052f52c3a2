"""How many connections come in, and from where."""

from __future__ import annotations

import pytest

from lantern_site.gate import Gate, trusted_networks

VISITOR = "192.0.2.7"
PROXY = "198.51.100.3"


def test_address_over_its_limit_is_refused() -> None:
    gate = Gate(limit=100, limit_per_address=2)
    assert [gate.enter(VISITOR) for _ in range(3)] == [True, True, False]
    assert gate.enter("192.0.2.8")
    gate.leave(VISITOR)
    assert gate.enter(VISITOR)


@pytest.mark.parametrize("host", [PROXY, "127.0.0.1", "::1", "::ffff:127.0.0.1", ""])
def test_proxies_share_no_address_limit(host: str) -> None:
    gate = Gate(100, 2, trusted_networks(["198.51.100.0/24"]))
    assert all(gate.enter(host) for _ in range(50))


def test_limit_in_all_holds_for_everybody() -> None:
    gate = Gate(3, 2, trusted_networks([PROXY]))
    assert [gate.enter(PROXY) for _ in range(4)] == [True, True, True, False]
    assert (gate.count, gate.refused) == (3, 1)
