"""``manage.py provision FILE``"""

from __future__ import annotations

import io
import sys

import pytest
from django.core.management import CommandError, call_command

from sessions_app.models import ApiKey, Provider
from tests.provision.conftest import PROVIDER, WHOLE

pytestmark = pytest.mark.django_db


def test_summary_is_printed(whole_file, capsys):
    call_command("provision", str(whole_file))
    out, err = capsys.readouterr()
    assert "created   agent helper\n" in out
    assert out.endswith("5 created\n")
    assert not err


def test_second_run_says_so(whole_file, capsys):
    call_command("provision", str(whole_file))
    capsys.readouterr()
    call_command("provision", str(whole_file))
    assert capsys.readouterr().out == "Nothing to change: 5 unchanged.\n"


def test_made_key_is_printed_once(tmp_path, capsys):
    path = tmp_path / "keys.toml"
    path.write_text('[[key]]\nname = "ci"\n')
    call_command("provision", str(path))
    assert "The key 'ci' is shown this once: lk_" in capsys.readouterr().out
    call_command("provision", str(path))
    assert "lk_" not in capsys.readouterr().out
    assert ApiKey.objects.count() == 1


def test_fault_is_one_line_on_stderr(tmp_path, capsys):
    path = tmp_path / "broken.toml"
    path.write_text(f"{PROVIDER}apikey = 1\n")
    with pytest.raises(SystemExit) as caught:
        call_command("provision", str(path))
    out, err = capsys.readouterr()
    assert caught.value.code == 1
    assert err == (
        f"{path}:5: [[provider]] 'apikey' is not known; the closest is 'api_key'.\n"
    )
    assert not out
    assert not Provider.objects.exists()


def test_dash_reads_standard_input(monkeypatch, capsys):
    content = io.BytesIO(b"\xef\xbb\xbf" + PROVIDER.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    call_command("provision", "-")
    assert Provider.objects.get().name == "primary"


def test_fault_in_standard_input_has_a_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a =")))
    with pytest.raises(SystemExit):
        call_command("provision", "-")
    assert capsys.readouterr().err.startswith("<stdin>:1: This is not TOML: ")


def test_file_that_is_not_utf8_is_refused(tmp_path, capsys):
    path = tmp_path / "latin.toml"
    path.write_bytes(b"# one\n# caf\xe9\n")
    with pytest.raises(SystemExit):
        call_command("provision", str(path))
    assert capsys.readouterr().err == f"{path}:2: The file is not UTF-8.\n"


def test_missing_file_is_said(tmp_path):
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("provision", str(tmp_path / "nothing.toml"))


def test_prune_is_passed_on(whole_file, tmp_path, capsys):
    call_command("provision", str(whole_file))
    path = tmp_path / "empty.toml"
    path.write_text("")
    call_command("provision", str(path), "--prune")
    assert "disabled  provider primary\n" in capsys.readouterr().out
    assert WHOLE and not Provider.objects.get().is_enabled
