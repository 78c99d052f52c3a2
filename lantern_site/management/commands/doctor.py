"""Checks a deployment."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from lantern_site.doctor import Finding, inside
from lantern_site.doctor.outside import Outside
from lantern_site.ports import default_port
from sessions_app.store.catalog import CATALOG_TTL_S

MARKS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}


class Command(BaseCommand):
    """``manage.py doctor``"""

    help = (
        "Check a deployment as its clients see it, through all proxies. Takes about"
        " as long as --hold; exit status 1 if something has to be changed."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("url", nargs="?", help="as clients write it; else this one")
        parser.add_argument("--key", help="an API key, if the database is not here")
        parser.add_argument("--agent", help="who answers, with --key; without tools")
        parser.add_argument("--hold", type=float, default=65.0, metavar="SECONDS")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, tell, and say by the exit status how it went."""
        url = options["url"] or f"http://127.0.0.1:{default_port()}"
        findings = _from_inside(options["key"])
        findings += self._from_outside(url, options)
        if options["json"]:
            self.stdout.write(json.dumps([asdict(each) for each in findings], indent=2))
        else:
            self._tell(url, findings)
        if any(each.status == "failed" for each in findings):
            raise SystemExit(1)

    def _from_outside(self, url: str, options: dict[str, Any]) -> list[Finding]:
        if options["key"]:
            caller = inside.Caller(options["key"], options["agent"])
            return asyncio.run(Outside(url, caller, options["hold"]).run(None))
        try:
            with inside.demo_caller() as caller:
                time.sleep(CATALOG_TTL_S + 0.5)  # until all processes know it
                checks = Outside(url, caller, options["hold"])
                public_key = inside.a_public_key()
                return asyncio.run(checks.run(public_key))
        except DatabaseError as error:
            raise CommandError(
                f"The database is not to be had ({error}). Run this where the server"
                " runs, or give an API key of it: --key lk_… --agent SLUG."
            ) from error

    def _tell(self, url: str, findings: list[Finding]) -> None:
        self.stdout.write(f"{url}\n")
        width = max(len(each.check) for each in findings)
        for each in findings:
            mark = MARKS[each.status]
            self.stdout.write(f"  {mark}  {each.check:<{width}}  {each.text}")
            if each.advice:
                self.stdout.write(f"  {'':7}  {'':<{width}}  -> {each.advice}")
        totals = Counter(each.status for each in findings)
        counts = (f"{totals[s]} {s}" for s in ("ok", "warning", "failed"))
        self.stdout.write(", ".join(counts))


def _from_inside(key: str | None) -> list[Finding]:
    """The checks that need the database; none if the caller has only a key."""
    if key:
        return []
    findings = [inside.check_versions(), inside.check_migrations()]
    if findings[-1].status == "ok":
        findings.append(inside.check_embeds())
        findings += inside.check_commands()
    return findings + asyncio.run(inside.check_redis())
