"""Loopback ports of servers that tests start."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind((HOST, 0))
        return int(sock.getsockname()[1])


def answers(port: int) -> bool:
    """Whether somebody listens there.

    The kernel may give a socket that asks the very port that it asks, from which it
    then reaches itself: once in tens of thousands of times, and a start asks often.
    """
    with socket.socket() as sock:
        is_reached = sock.connect_ex((HOST, port)) == 0
        return is_reached and sock.getsockname() != sock.getpeername()
