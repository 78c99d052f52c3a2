"""What tests take for a server that has started."""

from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from tests.fakes import ports


# A server counted as started that was not yet listening, and its first request failed.
def test_socket_that_reaches_itself_is_no_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = ports.free_port()

    def from_that_port() -> socket.socket:
        sock = socket.socket()
        sock.bind((ports.HOST, port))
        return sock

    monkeypatch.setattr(ports, "socket", SimpleNamespace(socket=from_that_port))
    assert not ports.answers(port)


def test_server_that_listens_answers() -> None:
    with socket.create_server((ports.HOST, 0)) as server:
        port = server.getsockname()[1]
        assert ports.answers(port)
    assert not ports.answers(port)
