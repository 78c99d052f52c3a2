"""Several web processes on one port.

The parent binds the socket and starts the processes, which inherit and accept from it;
so whoever is free takes the next connection, none is lost while another starts, and any
request may land anywhere. A process that ends by itself is started again.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from lantern_site.ports import BACKLOG
from lantern_site.siblings import SUFFIX

POLL_S = 0.2
RESTART_PAUSE_S = 1.0
KILL_AFTER_S = 60.0


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; OSError if the address is not to be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)
    listener.setblocking(False)
    listener.set_inheritable(True)
    return listener


class Supervisor:
    """Keeps some processes running until a signal asks it to end.

    In ``folder`` they tell each other what they counted; it begins empty.
    """

    def __init__(
        self, command: list[str], count: int, listener: socket.socket, folder: Path
    ) -> None:
        self._is_ready, tell_ready = os.pipe()
        fds = ["--fd", str(listener.fileno()), "--ready-fd", str(tell_ready)]
        self._command = [sys.executable, *command, *fds]
        self._pass_fds = [listener.fileno(), tell_ready]
        self._children: list[subprocess.Popen[bytes]] = []
        self._count = count
        self._folder = folder
        self._is_ending = False

    def run(self, ready: Callable[[], None]) -> int:
        """Until SIGTERM or SIGINT; the first exit status that is not 0, else 0."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        self._children = [self._start(place) for place in range(self._count)]
        is_ready = False
        while not self._is_ending:
            if select.select([] if is_ready else [self._is_ready], [], [], POLL_S)[0]:
                is_ready = True
                ready()
            for place, child in enumerate(self._children):
                if child.poll() is not None and not self._is_ending:
                    # Slowly, in case that it cannot start at all.
                    time.sleep(RESTART_PAUSE_S)
                    self._children[place] = self._start(place)
        return self._wait()

    def _start(self, place: int) -> subprocess.Popen[bytes]:
        counts = self._folder / f"{place + 1}{SUFFIX}"
        command = [*self._command, "--counts", str(counts)]
        return subprocess.Popen(command, pass_fds=self._pass_fds)

    def _end(self, number: int, frame: FrameType | None) -> None:
        is_first, self._is_ending = not self._is_ending, True
        for child in self._children:
            if child.poll() is None and (is_first or number == signal.SIGINT):
                child.send_signal(signal.SIGTERM)

    def _wait(self) -> int:
        give_up_at = time.monotonic() + KILL_AFTER_S
        for child in self._children:
            # One that was started in the very moment of the signal.
            if child.poll() is None:
                child.send_signal(signal.SIGTERM)
            try:
                child.wait(max(0.0, give_up_at - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        # One that was still starting ends of the signal itself, as it was asked to.
        fine = (0, -signal.SIGTERM)
        ends = (child.returncode for child in self._children)
        return next((end for end in ends if end not in fine), 0)
