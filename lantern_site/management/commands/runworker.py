"""Runs turns in a process of its own."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

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

    def handle(self, *args: Any, **options: Any) -> None:
        """Run turns until a signal ends it."""
        if not settings.REDIS_URL:
            raise CommandError(
                "A worker and the web processes must share a log: set REDIS_URL, or"
                " run manage.py serve alone, which runs the turns, too."
            )
        self.check_migrations()
        runner = asyncio.Runner(loop_factory=_loop)
        with runner:
            runner.run(self._run(options["drain"]))

    async def _run(self, drain_s: float) -> None:
        is_over = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, is_over.set)
        engine = EngineTask()
        engine.ensure_running()
        await engine.ready()
        self.stdout.write("Waiting for turns (Ctrl-C ends it)")
        self.stdout.flush()
        await is_over.wait()
        await engine.stop(drain_s)


def _loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
