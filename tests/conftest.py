"""What all tests share: no traffic off this machine, and nothing kept in between."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from channels.layers import channel_layers

from sessions_app.bus.counters import counters_at
from sessions_app.bus.memory import memory_bus
from sessions_app.lifecycle import lifecycle
from sessions_app.store import db
from sessions_app.store.budgets import budgets
from sessions_app.store.catalog import accounts, plans, provider_names
from sessions_app.store.limits import limits
from widget.known import known_embeds

pytest_plugins = ["tests.no_skips", "tests.drill.tally"]

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex


class NetworkForbidden(AssertionError):
    """A test tried to reach another machine."""


def _require_loopback(sock: socket.socket, address: Any) -> None:
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = str(address[0])
    if host == "localhost" or ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        return
    raise NetworkForbidden(f"a test tried to connect to {address!r}")


@pytest.fixture(autouse=True, scope="session")
def network_guard() -> Iterator[None]:
    """Fail any test that opens a connection to anywhere but loopback."""

    def connect(sock: socket.socket, address: Any) -> None:
        _require_loopback(sock, address)
        _connect(sock, address)

    def connect_ex(sock: socket.socket, address: Any) -> int:
        _require_loopback(sock, address)
        return _connect_ex(sock, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        yield


@pytest.fixture(autouse=True)
def fresh_process() -> Iterator[None]:
    """Each test begins as a new process would: empty log, layer and counters."""
    memory_bus.cache_clear()
    channel_layers.backends.clear()
    counters_at.cache_clear()
    accounts.forget()
    plans.forget()
    budgets.forget()
    limits.forget()
    provider_names.forget()
    known_embeds.forget()
    lifecycle.is_draining = False
    yield


@pytest.fixture(autouse=True, scope="session")
def close_store_connections() -> Iterator[None]:
    """End the store's threads, and with them their connections."""
    yield
    db.close_threads()
