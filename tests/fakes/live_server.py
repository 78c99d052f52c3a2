"""Lantern as its users run it: ``manage.py serve`` in a process of its own.

    with LiveServer(Template.make(folder), folder / "one", toml) as server:
        client = Client(server.url, KEY)

The log is read at the end: a traceback in it fails the test.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql

from tests.fakes.ports import answers, free_port

ROOT = Path(__file__).resolve().parents[2]
KEY = "lk_0123456789abcdefghijABCDEFGHIJ0123456789a"
SERVER = ["--server", os.environ.get("LANTERN_TEST_SERVER", "daphne")]
"""All live tests run on uvicorn, too: ``make test-uvicorn``."""
START_S = 45.0
STOP_S = 15.0
DATABASE_FILE = "database.url"
"""Where a data folder's database is, if it is not in the folder."""
COMPLAINTS = ("Traceback (most recent call last)", "was never", "ResourceWarning")

_numbers = itertools.count()
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "VIRTUAL_ENV", "TMPDIR")


class ServerFailed(AssertionError):
    """The server did not start, or its log holds a traceback."""


def environment(folder: Path, **extra: str) -> dict[str, str]:
    """What the server sees: nothing of the tests' own settings."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    if (folder / DATABASE_FILE).exists() and "DATABASE_URL" not in extra:
        kept["DATABASE_URL_FILE"] = str(folder / DATABASE_FILE)
    return {
        **kept,
        "LANTERN_DATA_DIR": str(folder),
        "PYTHONWARNINGS": "default",
        "PYTHONUNBUFFERED": "1",
        **extra,
    }


def manage(folder: Path, *arguments: str, stdin: str = "", **extra: str) -> str:
    """Run ``manage.py`` to its end; its output, or ServerFailed."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(folder, **extra),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode:
        raise ServerFailed(f"manage.py {arguments[0]}: {done.stdout}{done.stderr}")
    return done.stdout


class LiveServer:
    """One server on a data folder of its own; made from a migrated template."""

    def __init__(self, template: Path, folder: Path, toml: str = "", **env: str):
        self.folder = folder
        self.env = env
        self.port = free_port()
        self.log = folder / "server.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.may_complain = False
        self.arguments: tuple[str, ...] = (
            *("serve", "--port", str(self.port)),
            *SERVER,
        )
        self.said = ""
        shutil.copytree(template, folder)
        own_database(folder)
        if toml:
            self.provision(toml)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def provision(self, toml: str) -> str:
        """Make the database say what the text says."""
        return manage(self.folder, "provision", "-", stdin=toml, **self.env)

    def __enter__(self) -> LiveServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        text = self.log.read_text()
        complaints = [] if self.may_complain else [w for w in COMPLAINTS if w in text]
        if complaints:
            raise ServerFailed(f"The log says {complaints[0]!r}:\n{text}")

    def command(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Another ``manage.py serve`` on the same folder; the caller waits for it."""
        return subprocess.Popen(
            [sys.executable, "manage.py", "serve", *SERVER, *arguments],
            cwd=ROOT,
            env=environment(self.folder, **self.env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def start(self) -> float:
        """Serve; returns once the port answers, with the seconds that it took."""
        begin = time.monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", *self.arguments],
                cwd=ROOT,
                env=environment(self.folder, **self.env),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        while not self.is_started():
            took_s = time.monotonic() - begin
            if self.process.poll() is not None or took_s > START_S:
                self.kill()
                raise ServerFailed(f"no start in {took_s:.1f} s:\n{self.tail()}")
            time.sleep(0.02)
        return time.monotonic() - begin

    def is_running(self) -> bool:
        """Whether there is a process that has not ended."""
        return self.process is not None and self.process.poll() is None

    def is_started(self) -> bool:
        """Whether the port answers."""
        return answers(self.port)

    def tail(self) -> str:
        """The end of the log."""
        return self.log.read_text()[-4000:]

    def stop(self) -> int:
        """Ask it to end (SIGTERM); its exit status."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            return process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise ServerFailed(f"no end in {STOP_S} s:\n{self.tail()}") from None

    def kill(self) -> None:
        """End it as a crash or the kernel would (SIGKILL)."""
        if self.process is not None:
            process, self.process = self.process, None
            process.kill()
            process.wait()

    def restart(self) -> float:
        """Start again on the same port and folder; the seconds that it took."""
        self.stop()
        return self.start()


def make_template(folder: Path) -> Path:
    """A migrated data folder, to be copied: migrations take longer than a start."""
    own_database(folder)
    manage(folder, "migrate", "--verbosity", "0")
    return folder


def own_database(folder: Path) -> None:
    """On PostgreSQL, give the folder a database: empty, or a copy of its template's."""
    base = os.environ.get("LANTERN_TEST_DATABASE_URL")
    if not base:
        return
    kept = folder / DATABASE_FILE
    template = "template0"
    if kept.exists():
        template = kept.read_text().rpartition("/")[2]
    name = f"lantern_{os.getpid()}_{next(_numbers)}"
    server = base.rpartition("/")[0]
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        names = map(sql.Identifier, (name, template))
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
    kept.write_text(f"{server}/{name}")
