"""What cannot work together is refused with a sentence that says what to write."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from lantern_site.environment import database, switch
from lantern_site.shared import channel_layer


@pytest.mark.parametrize("command", [["runworker"], ["serve", "--workers", "2"]])
def test_several_processes_without_redis_are_refused(command: list[str]) -> None:
    with pytest.raises(CommandError, match="REDIS_URL"):
        call_command(*command)


def test_url_that_is_not_of_redis_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL must begin with"):
        channel_layer("http://127.0.0.1")


def test_switch_is_on_or_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANTERN_ENGINE", "maybe")
    with pytest.raises(ImproperlyConfigured, match="write on or off"):
        switch("LANTERN_ENGINE")


def test_wrong_port_of_the_database_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://lantern@host:port/name")
    with pytest.raises(ImproperlyConfigured, match="port in DATABASE_URL"):
        database(tmp_path)
