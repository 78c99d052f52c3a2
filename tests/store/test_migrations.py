from __future__ import annotations

from django.core.management import call_command


def test_models_and_migrations_agree(db: None) -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
