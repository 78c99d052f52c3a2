"""Makes everything that a first start needs, and says where to look."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from lantern_site import first_start
from lantern_site.ports import default_port


class Command(BaseCommand):
    """``manage.py setup``"""

    help = "Migrate, and make an admin, a provider, agents, an embed and a key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        """Look for each thing before making it; print what is needed to begin."""
        port = options["port"] or default_port()
        call_command("migrate", interactive=False, verbosity=0)
        secrets = first_start.FirstStart.load(settings.DATA_DIR)
        found = first_start.find_provider()
        has_first_password = first_start.make_admin(secrets.password)
        first_start.make_agents(found)
        embed = first_start.make_embed(port)
        first_start.make_key(secrets.key)
        base = f"http://127.0.0.1:{port}"
        password = secrets.password if has_first_password else "(changed)"
        lines = [
            "",
            f"  Lantern     {base}/",
            f"  Dashboard   {base}/admin/   user: {first_start.ADMIN}"
            f"   password: {password}",
            f"  API         {base}/v1/docs",
            f"  API key     {secrets.key}",
            f"  Model       {first_start.default_route()}",
            "",
            "  On your site:",
            f'  <script src="{base}/widget.js" data-key="{embed.key}" async></script>',
            "",
            "  In a terminal:",
            _curl(base, secrets.key),
            "",
        ]
        self.stdout.write("\n".join(lines))


def _curl(base: str, key: str) -> str:
    """One line that makes a session, posts a message and shows the stream."""
    headers = f"-H 'Authorization: Bearer {key}' -H 'Content-Type: application/json'"
    session = f"curl -s {headers} -d '{{}}' {base}/v1/sessions"
    session_id = f"$({session} | grep -o 'sess_[0-9A-Za-z]*' | head -n 1)"
    return (
        f"curl -sN {headers} -H 'Accept: text/event-stream'"
        f' -d \'{{"content": "Hello!"}}\' {base}/v1/sessions/{session_id}/messages'
    )
