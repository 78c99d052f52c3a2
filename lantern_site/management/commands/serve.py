"""Runs the server."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from lantern_site.ports import default_port


class Command(BaseCommand):
    """``manage.py serve``"""

    help = "Serve Lantern: HTTP, WebSocket and the turns themselves."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=None)
        parser.add_argument(
            "--server",
            choices=("daphne", "uvicorn"),
            default="daphne",
            help="What answers HTTP; the application is the same.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until a signal ends it."""
        host, port = options["host"], options["port"] or default_port()
        lock = _only_process(settings.DATA_DIR)
        self.check_migrations()
        # Imported late: it decides on the event loop of the whole process.
        if options["server"] == "uvicorn":
            from lantern_site.uvicorn_server import serve
        else:
            from lantern_site.server import serve

        def ready() -> None:
            self.stdout.write(f"Listening on http://{host}:{port}/ (Ctrl-C ends it)")
            self.stdout.flush()

        try:
            serve(host, port, ready)
        except OSError as error:
            raise CommandError(
                f"{error} Stop what uses the port, or choose another one with PORT."
            ) from error
        finally:
            lock.close()


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
