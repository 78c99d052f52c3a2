"""An installation of several processes: PostgreSQL, Redis, web processes, workers.

with Cluster(folder, toml, postgres, redis.url) as cluster:
    Client(cluster.web[0].url, KEY)
"""

from __future__ import annotations

import itertools
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from tests.fakes.live_server import LiveServer, manage
from tests.fakes.postgres import Postgres

_numbers = itertools.count()
S = TypeVar("S", bound=LiveServer)


class Worker(LiveServer):
    """``manage.py runworker``"""

    def __init__(self, template: Path, folder: Path, **env: str) -> None:
        super().__init__(template, folder, **env)
        self.arguments = ("runworker",)

    def start(self) -> float:
        self.log.unlink(missing_ok=True)  # that says of an earlier start that it waits
        return super().start()

    def is_started(self) -> bool:
        return "Waiting for turns" in self.log.read_text()

    def freeze(self) -> None:
        """It holds what it has, and does nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """It goes on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)


class Several(LiveServer):
    """``manage.py serve --workers N``"""

    def __init__(self, template: Path, folder: Path, count: int, **env: str) -> None:
        super().__init__(template, folder, **env)
        self.arguments = (*self.arguments, "--workers", str(count))

    def is_started(self) -> bool:
        return "Listening on" in self.log.read_text()


class Cluster:
    """Web processes without an engine, and workers; all on one database.

    ``first_env`` is for the first web process and the first worker alone.
    """

    def __init__(
        self,
        folder: Path,
        toml: str,
        postgres: Postgres,
        redis_url: str,
        *,
        first_env: dict[str, str] | None = None,
        **env: str,
    ) -> None:
        self.database_url = postgres.create(folder.name)
        self.env = {"DATABASE_URL": self.database_url, "REDIS_URL": redis_url, **env}
        self.folder = folder
        self.template = folder / "template"
        self.template.mkdir(parents=True)
        manage(self.template, "migrate", "--verbosity", "0", **self.env)
        manage(self.template, "provision", "-", stdin=toml, **self.env)
        firsts: list[dict[str, str]] = [first_env or {}, {}]
        self.web = [self.make(LiveServer, LANTERN_ENGINE="off", **e) for e in firsts]
        self.workers = [self.make(Worker, **each) for each in firsts]

    def make(self, kind: type[S], *arguments: int, **env: str) -> S:
        """One more process of the installation, not started yet."""
        folder = self.folder / f"process-{next(_numbers)}"
        made = kind(self.template, folder, *arguments, **{**self.env, **env})
        made.may_complain = True  # of what is done to it
        return made

    @property
    def servers(self) -> list[LiveServer]:
        """All processes."""
        return [*self.web, *self.workers]

    def heal(self) -> None:
        """Start what does not run."""
        for worker in self.workers:
            if worker.is_running():
                worker.thaw()
        dead = [server for server in self.servers if not server.is_running()]
        with ThreadPoolExecutor() as pool:
            list(pool.map(LiveServer.start, dead))

    def __enter__(self) -> Cluster:
        self.heal()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self.servers:
            server.__exit__(kind, error, trace)
