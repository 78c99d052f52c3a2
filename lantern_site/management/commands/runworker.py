"""Runs turns in a process of its own."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from lantern_site.drain import Drain
from lantern_site.interpreter import tune
from lantern_site.served import Served, add_server_argument, server_named, url_of
from sessions_app.engine.consumer import EngineTask

DRAIN_S = 30.0


class Command(BaseCommand):
    """``manage.py runworker``"""

    help = "Run the turns that web processes accept; needs REDIS_URL."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--drain",
            type=float,
            default=DRAIN_S,
            metavar="SECONDS",
            help="what running turns get after SIGTERM to end by themselves",
        )
        parser.add_argument(
            "--port",
            type=int,
            default=None,
            help="answer /health, /ready and /metrics there; without it there is none",
        )
        parser.add_argument("--host", default="127.0.0.1")
        add_server_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run turns until a signal ends it."""
        if not settings.REDIS_URL:
            raise CommandError(
                "A worker and the web processes must share a log: set REDIS_URL, or"
                " run manage.py serve alone, which runs the turns, too."
            )
        self.check_migrations()
        if options["port"] is not None:
            self._serve(options)
            return
        tune()
        runner = asyncio.Runner(loop_factory=_loop)
        with runner:
            runner.run(self._run(options["drain"]))

    def _serve(self, options: dict[str, Any]) -> None:
        host, port = options["host"], options["port"]
        serve = server_named(options["server"])

        def ready() -> None:
            self._say_ready(f"; its health: {url_of(host, port)}health")

        try:
            serve(_worker(options["drain"]), host, port, ready)
        except OSError as error:
            raise CommandError(
                f"{error} Stop what uses the port, or choose another --port."
            ) from error

    async def _run(self, drain_s: float) -> None:
        is_over = asyncio.Event()
        loop = asyncio.get_running_loop()
        engine = EngineTask()
        drain = Drain(engine, is_over.set, drain_s)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, drain.begin)
        engine.ensure_running()
        await engine.ready()
        self._say_ready()
        await is_over.wait()

    def _say_ready(self, more: str = "") -> None:
        self.stdout.write(f"Waiting for turns (Ctrl-C ends it){more}")
        self.stdout.flush()


def _worker(drain_s: float) -> Served:
    # Not before the server has chosen the event loop.
    from lantern_site.asgi import build_worker_application

    engine = EngineTask()
    return Served(build_worker_application(engine), engine, drain_s)


def _loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
