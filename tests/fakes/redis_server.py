"""A Redis of the tests' own, on a free loopback port.

with RedisServer.temporary() as redis:
    ... redis.url ...
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.ports import answers, free_port

START_S = 10.0


class RedisServer:
    """One server; may be killed, frozen and started again on its port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.options = options
        self.process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def temporary(cls, *options: str) -> Iterator[RedisServer]:
        """A new server that runs, and is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="lantern-redis-") as folder:
            server = cls(Path(folder), *options)
            server.start()
            try:
                yield server
            finally:
                server.kill()

    @property
    def url(self) -> str:
        """What ``REDIS_URL`` takes."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Listen; what it had is there again only if its options save it."""
        program = shutil.which("redis-server")
        if program is None:
            raise RuntimeError("Redis is not installed; run scripts/need-redis.")
        own = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", "."]
        quiet = ["--save", "", "--appendonly", "no", "--loglevel", "warning"]
        self.process = subprocess.Popen(
            [program, *own, *quiet, *self.options],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        give_up_at = time.monotonic() + START_S
        while not answers(self.port):
            if time.monotonic() > give_up_at:
                raise RuntimeError("Redis did not start.")
            time.sleep(0.01)

    def kill(self) -> None:
        """End it as a crash would."""
        if self.process is not None:
            process, self.process = self.process, None
            process.kill()
            process.wait()

    def heal(self) -> None:
        """Run, whatever was done to it; empty if it did not."""
        if self.process is None:
            (self.folder / "dump.rdb").unlink(missing_ok=True)
            self.start()
        self.thaw()

    def freeze(self) -> None:
        """It holds its connections, and does nothing."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGCONT)
