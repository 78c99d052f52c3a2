"""A PostgreSQL of the tests' own, on a free loopback port.

    with Postgres.temporary() as postgres:
        ... postgres.url("lantern") ...

Run as a program it starts one for a command and hands it the URL:
``python -m tests.fakes.postgres pytest …``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql

from tests.fakes.ports import free_port

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
URL_NAME = "LANTERN_TEST_DATABASE_URL"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "log_min_messages": "fatal",
}


def binary(name: str) -> str:
    """The path of a PostgreSQL program."""
    found = shutil.which(name) or next(
        (str(folder / name) for folder in BINARIES if (folder / name).exists()), None
    )
    if found is None:
        raise RuntimeError("PostgreSQL is not installed; run scripts/need-postgres.")
    return found


class Postgres:
    """One cluster; may be stopped in any way and started again on its port."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.settings = {**SETTINGS, **settings}
        # It refuses to run as root.
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        if os.geteuid() != 0:
            self._user = {}

    @classmethod
    def made(cls, folder: Path, **settings: str) -> Postgres:
        """A new cluster in a folder that does not exist yet."""
        self = cls(folder, **settings)
        folder.mkdir(parents=True)
        if self._user:
            shutil.chown(folder, "postgres", "postgres")
        self._run(
            "initdb", "-D", ".", "-U", "lantern", "-A", "trust", "-E", "UTF8", "-N"
        )
        return self

    @classmethod
    @contextmanager
    def temporary(cls, **settings: str) -> Iterator[Postgres]:
        """A new cluster that runs, and is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="lantern-postgres-") as folder:
            os.chmod(folder, 0o755)  # another user works in there
            with cls.made(Path(folder) / "cluster", **settings) as postgres:
                yield postgres

    def url(self, database: str = "postgres") -> str:
        """What ``DATABASE_URL`` takes."""
        return f"postgresql://lantern@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Accept connections."""
        given = [
            f"-c {name}={value or chr(39) * 2}" for name, value in self.settings.items()
        ]
        options = " ".join([f"-p {self.port}", *given])
        self._run("pg_ctl", "-D", ".", "-w", "-l", "log", "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """End it; ``immediate`` is a crash."""
        self._run("pg_ctl", "-D", ".", "-w", "-m", mode, "stop")

    def heal(self) -> None:
        """Run, whatever was done to it."""
        if not (self.folder / "postmaster.pid").exists():
            self.start()

    @property
    def pid(self) -> int:
        """The process that all others are children of."""
        return int((self.folder / "postmaster.pid").read_text().split()[0])

    def create(self, database: str) -> str:
        """An empty database's URL."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            name = sql.Identifier(database)
            connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
        return self.url(database)

    def __enter__(self) -> Postgres:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if (self.folder / "postmaster.pid").exists():
            self.stop("immediate")

    def _run(self, name: str, *arguments: str) -> None:
        done = subprocess.run(
            [binary(name), *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if name == "initdb" else subprocess.DEVNULL,
            timeout=60,
            **self._user,  # type: ignore[call-overload]
        )
        if done.returncode:
            raise RuntimeError(f"{name} failed: {done.stderr!r}")


def main(command: list[str]) -> int:
    """Run a command with a PostgreSQL beside it; the command's exit status."""
    with Postgres.temporary() as postgres:
        environment = {**os.environ, URL_NAME: postgres.url("lantern")}
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
