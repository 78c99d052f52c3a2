"""A Redis master with a replica, and a Sentinel that puts the one in the other's place.

with Sentinel.temporary() as sentinel:
    ... sentinel.url ...
    sentinel.lose_master()
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from tests.fakes.ports import free_port
from tests.fakes.redis_server import RedisServer

NAME = "lantern"
DOWN_AFTER_MS = 500
PATIENCE_S = 20.0
CONFIGURATION = """\
port {port}
bind 127.0.0.1
dir .
sentinel monitor {name} 127.0.0.1 {master} 1
sentinel down-after-milliseconds {name} {down_after}
sentinel failover-timeout {name} 2000
"""


class Sentinel:
    """The three, on free loopback ports."""

    def __init__(self, folder: Path, master: RedisServer, replica: RedisServer) -> None:
        self.folder = folder
        self.master = master
        self.replica = replica
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    @contextmanager
    def temporary(cls) -> Iterator[Sentinel]:
        """New ones that run, the replica in step, and are gone afterwards."""
        with (
            RedisServer.temporary() as master,
            RedisServer.temporary(
                "--replicaof", "127.0.0.1", str(master.port)
            ) as replica,
            tempfile.TemporaryDirectory(prefix="lantern-sentinel-") as folder,
        ):
            made = cls(Path(folder), master, replica)
            made._start()
            try:
                yield made
            finally:
                made._stop()

    @property
    def url(self) -> str:
        """What ``REDIS_URL`` takes."""
        return f"redis+sentinel://127.0.0.1:{self.port}/{NAME}"

    def lose_master(self) -> None:
        """Kill the master; the replica takes over within a second or two."""
        self.master.kill()

    def has_failed_over(self) -> bool:
        """Whether clients are sent to what was the replica."""
        return self._master_port() == self.replica.port

    def _start(self) -> None:
        text = CONFIGURATION.format(
            port=self.port,
            name=NAME,
            master=self.master.port,
            down_after=DOWN_AFTER_MS,
        )
        (self.folder / "sentinel.conf").write_text(text)
        self._process = subprocess.Popen(
            ["redis-server", "sentinel.conf", "--sentinel"],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        give_up_at = time.monotonic() + PATIENCE_S
        while not self._knows_replica():
            if time.monotonic() > give_up_at:
                raise RuntimeError("The Sentinel found no replica.")
            time.sleep(0.1)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _knows_replica(self) -> bool:
        try:
            with Redis(port=self.port) as client:
                replicas = client.sentinel_slaves(NAME)
        except RedisError:
            return False
        return any(
            each["port"] == self.replica.port and each["master-link-status"] == "ok"
            for each in replicas
        )

    def _master_port(self) -> int:
        with Redis(port=self.port) as client:
            return int(client.sentinel_get_master_addr_by_name(NAME)[1])
