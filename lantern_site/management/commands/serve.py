"""Runs the server."""

from __future__ import annotations

import fcntl
import os
import sys
from argparse import SUPPRESS
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from lantern_site.ports import default_port
from lantern_site.processes import Supervisor, listening_socket
from lantern_site.served import Served, add_server_argument, server_named, url_of
from lantern_site.siblings import siblings
from sessions_app.conf import conf


class Command(BaseCommand):
    """``manage.py serve``"""

    help = "Serve Lantern: HTTP, WebSocket and the turns themselves."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=None)
        parser.add_argument(
            "--workers",
            type=int,
            default=1,
            metavar="N",
            help="web processes on the port; more than one need REDIS_URL",
        )
        # From the parent of several: a socket that listens already, and where this
        # process tells the others what it has counted.
        parser.add_argument("--fd", type=int, default=None, help=SUPPRESS)
        parser.add_argument("--ready-fd", type=int, default=None, help=SUPPRESS)
        parser.add_argument("--counts", type=Path, default=None, help=SUPPRESS)
        add_server_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until a signal ends it."""
        host, port = options["host"], options["port"] or default_port()
        if options["workers"] > 1:
            self._serve_many(host, port, options["workers"], options["server"])
            return
        lock = None if settings.REDIS_URL else _only_process(settings.DATA_DIR)
        self.check_migrations()
        serve = server_named(options["server"])

        def ready() -> None:
            if options["ready_fd"] is None:
                self._say_ready(host, port)
            else:
                os.write(options["ready_fd"], b"1")

        try:
            with siblings.joined(options["counts"]):
                serve(_site(), host, port, ready, fd=options["fd"])
        except OSError as error:
            raise CommandError(
                f"{error} Stop what uses the port, or choose another one with PORT."
            ) from error
        finally:
            if lock is not None:
                lock.close()

    def _serve_many(self, host: str, port: int, count: int, server: str) -> None:
        if not settings.REDIS_URL:
            raise CommandError(
                "Several processes must share a log: set REDIS_URL, or leave out"
                " --workers."
            )
        self.check_migrations()
        try:
            listener = listening_socket(host, port)
        except OSError as error:
            raise CommandError(
                f"{error} Stop what uses the port, or choose another one with PORT."
            ) from error
        command = [sys.argv[0], "serve", "--host", host, "--port", str(port)]
        command += ["--server", server]
        with listener, _private_folder() as folder:
            processes = Supervisor(command, count, listener, Path(folder))
            status = processes.run(lambda: self._say_ready(host, port))
        if status:
            raise SystemExit(status)

    def _say_ready(self, host: str, port: int) -> None:
        self.stdout.write(f"Listening on {url_of(host, port)} (Ctrl-C ends it)")
        self.stdout.flush()


def _site() -> Served:
    # Not before the server has chosen the event loop.
    from lantern_site.asgi import application
    from sessions_app.engine.consumer import engine

    return Served(application, engine, conf().drain_s)


def _private_folder() -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="lantern-")
    except OSError as error:
        raise CommandError(
            f"{error} The processes share their counts in one: set TMPDIR to a folder"
            " that may be written."
        ) from error


def _only_process(folder: Path) -> IO[str]:
    """Hold the data folder: with the log in the process, there may be only one."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "serve.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CommandError(
            f"Another server uses {folder}. Stop it, or set LANTERN_DATA_DIR."
        ) from error
    return lock
