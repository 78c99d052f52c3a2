"""The parent of several web processes."""

from __future__ import annotations

import socket
import subprocess
import sys

from lantern_site.processes import listening_socket


def test_child_that_still_starts_ends_without_fault() -> None:
    """SIGTERM came before a child had its handler, and the parent called it a crash."""
    program = (
        "import os, pathlib, signal, sys, threading\n"
        "from lantern_site.processes import Supervisor, listening_socket\n"
        "listener = listening_socket('127.0.0.1', 0)\n"
        "starting = ['-c', 'import time; time.sleep(60)']\n"
        "parent = Supervisor(starting, 2, listener, pathlib.Path('.'))\n"
        "stop = threading.Timer(1, os.kill, (os.getpid(), signal.SIGTERM))\n"
        "stop.start()\n"
        "sys.exit(parent.run(lambda: None))\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=15).returncode == 0


def test_socket_of_all_addresses_takes_both_families() -> None:
    """``--host ::`` took what came by IPv6, and on some systems nothing else."""
    with listening_socket("::", 0) as listener:
        port = listener.getsockname()[1]
        for host in ("127.0.0.1", "::1"):
            socket.create_connection((host, port), 5).close()
