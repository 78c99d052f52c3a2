"""Makes the database say what a file says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError

from sessions_app.provision import ProvisionError, Report, apply

STANDARD_INPUT = "-"


class Command(BaseCommand):
    """``manage.py provision FILE [--prune]``"""

    help = "Make the database say what a TOML file says; all of it, or nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a TOML file, or - for stdin")
        parser.add_argument(
            "--prune",
            action="store_true",
            help="disable what the file does not name, and delete such prices",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Apply the file; a fault in it goes to stderr as FILE:LINE: sentence."""
        name = options["file"]
        source = "<stdin>" if name == STANDARD_INPUT else name
        try:
            report = apply(_text(name), source=source, prune=options["prune"])
        except ProvisionError as error:
            error.source = source
            self.stderr.write(str(error))
            sys.exit(1)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        except (OperationalError, ProgrammingError) as error:
            raise CommandError(
                f"The database cannot be used ({error}). Run: manage.py migrate"
            ) from error
        self._tell(report)

    def _tell(self, report: Report) -> None:
        for line in report.lines():
            self.stdout.write(line)
        for warning in report.warnings:
            self.stderr.write(f"Warning: {warning}")
        for name, key in report.keys.items():
            self.stdout.write(f"The key {name!r} is shown this once: {key}")


def _text(name: str) -> str:
    """The file as text; a byte order mark is left out."""
    try:
        if name == STANDARD_INPUT:
            content = sys.stdin.buffer.read()
        else:
            content = Path(name).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ProvisionError(line, "The file is not UTF-8.") from error
