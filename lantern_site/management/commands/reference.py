"""Writes the generated pages."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from lantern_site.reference import PAGES


class Command(BaseCommand):
    """``manage.py reference``"""

    help = "Write the generated pages of docs/reference."

    def handle(self, *args: Any, **options: Any) -> None:
        """Write each page anew."""
        for name, page in PAGES.items():
            path = settings.BASE_DIR / "docs" / "reference" / name
            path.write_text(page())
            self.stdout.write(str(path.relative_to(settings.BASE_DIR)))
