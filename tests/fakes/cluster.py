"""An installation of several processes: PostgreSQL, Redis, web processes, workers.

async with Cluster(folder, toml, postgres, redis.url) as cluster:
    Client(cluster.web[0].url, KEY)
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from types import TracebackType

from tests.fakes.live_server import LiveServer, manage
from tests.fakes.postgres import Postgres


class Worker(LiveServer):
    """``manage.py runworker``"""

    def __init__(self, template: Path, folder: Path, **env: str) -> None:
        super().__init__(template, folder, **env)
        self.arguments = ("runworker",)

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
    """Web processes without an engine, and workers."""

    def __init__(
        self,
        folder: Path,
        toml: str,
        postgres: Postgres,
        redis_url: str,
        *,
        webs: int = 2,
        workers: int = 2,
        processes: int = 1,
        worker_env: dict[str, str] | None = None,
        **env: str,
    ) -> None:
        self.env = {
            "DATABASE_URL": postgres.create(folder.name),
            "REDIS_URL": redis_url,
            **env,
        }
        template = folder / "template"
        template.mkdir(parents=True)
        manage(template, "migrate", "--verbosity", "0", **self.env)
        manage(template, "provision", "-", stdin=toml, **self.env)
        off = {**self.env, "LANTERN_ENGINE": "off"}
        self.web = [
            LiveServer(template, folder / f"web-{n}", **off)
            if processes == 1
            else Several(template, folder / f"web-{n}", processes, **off)
            for n in range(webs)
        ]
        self.workers = [
            Worker(template, folder / f"worker-{n}", **self.env, **(worker_env or {}))
            for n in range(workers)
        ]

    @property
    def servers(self) -> list[LiveServer]:
        """All processes."""
        return [*self.web, *self.workers]

    async def __aenter__(self) -> Cluster:
        starts = [asyncio.to_thread(server.start) for server in self.servers]
        await asyncio.gather(*starts)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self.servers:
            server.may_complain = server.may_complain or kind is not None
            server.__exit__(kind, error, trace)
