"""Removes the texts of conversations whose time is over."""

from __future__ import annotations

from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandParser

from sessions_app.bus import close_bus, get_bus
from sessions_app.engine.purger import purge
from sessions_app.store import retention


class Command(BaseCommand):
    """``manage.py purge [--dry-run]``"""

    help = "Remove the texts of conversations that are older than retention_days."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="only count what would be removed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Purge now what a running server would purge within a minute."""
        if options["dry_run"]:
            for rule in retention.rules():
                count = retention.due(rule).count()
                self.stdout.write(
                    f"{rule.label} (retention_days = {rule.days}): {count} due"
                )
            return
        self.stdout.write(f"{async_to_sync(_purge)()} conversations removed.")


async def _purge() -> int:
    try:
        return await purge(get_bus())
    finally:
        await close_bus()
