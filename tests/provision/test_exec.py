from __future__ import annotations

import pytest

from sessions_app.domain.route import ProviderConfig
from sessions_app.models import Provider
from sessions_app.provision import ProvisionError, apply
from sessions_app.store.catalog import config_of

pytestmark = pytest.mark.django_db

NAMED = '[[provider]]\nname = "own"\n'
COMMAND = NAMED + 'kind = "exec"\ncommand = ["true", "a b", ""]\n'


def test_command_reaches_the_adapter() -> None:
    lines = 'output = "jsonl"\ntext_path = "choices.0.text"\n'
    apply(COMMAND + lines)
    assert config_of(Provider.objects.get()) == ProviderConfig(
        name="own",
        kind="exec",
        command=("true", "a b", ""),
        output="jsonl",
        text_path="choices.0.text",
    )
    assert not apply(COMMAND + lines).has_changes


def test_command_may_come_from_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("MODEL_PROGRAM", "true")
    apply(NAMED + 'kind = "exec"\ncommand = ["env:MODEL_PROGRAM"]\n')
    assert Provider.objects.get().command == ["true"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (NAMED + 'kind = "exec"\n', 1, "needs the key 'command'"),
        (NAMED + 'kind = "exec"\ncommand = "true"\n', 4, "must be a list of strings"),
        (NAMED + 'kind = "exec"\ncommand = []\n', 4, "a program, then its arguments"),
        (NAMED + 'kind = "exec"\ncommand = ["no-such"]\n', 4, "not here or not exec"),
        (NAMED + 'kind = "exec"\ncommand = ["true; id"]\n', 4, "not here or not exec"),
        (COMMAND + 'output = "xml"\n', 5, "write one of: jsonl, text"),
        (COMMAND + 'output = "jsonl"\n', 1, "must lead to the text"),
        (
            COMMAND + 'output = "jsonl"\ntext_path = "a..b"\n',
            6,
            "must lead to the text",
        ),
        (NAMED + 'kind = "demo"\ncommand = ["true"]\n', 4, "only for the kind 'exec'"),
    ],
)
def test_command_that_cannot_run_is_refused(text: str, line: int, words: str) -> None:
    with pytest.raises(ProvisionError) as caught:
        apply(text)
    error = caught.value
    assert (error.line, words in error.sentence) == (line, True), str(error)
    assert not Provider.objects.exists()
