from __future__ import annotations

import pytest

from sessions_app.models import Provider
from sessions_app.provision import ProvisionError, apply

pytestmark = pytest.mark.django_db

NAMED = '[[provider]]\nname = "p"\n'


def row() -> tuple[str, str, str, bool]:
    found = Provider.objects.get()
    return found.kind, found.service, found.base_url, found.allow_private


def test_local_service_needs_one_line() -> None:
    apply(NAMED + 'service = "ollama"\n')
    assert row() == ("openai", "ollama", "http://127.0.0.1:11434/v1", True)
    assert not apply(NAMED + 'service = "ollama"\n').has_changes


def test_hosted_service_needs_its_key_too() -> None:
    apply(NAMED + 'service = "groq"\napi_key = "gsk_test"\n')
    assert row() == ("openai", "groq", "https://api.groq.com/openai/v1", False)
    apply(NAMED + 'service = "groq"\n')  # the stored one stays
    assert Provider.objects.get().api_key == "gsk_test"


def test_what_the_file_says_wins() -> None:
    url = "https://llm.example.com/v1"
    apply(NAMED + f'service = "vllm"\nbase_url = "{url}"\nallow_private = false\n')
    assert row() == ("openai", "vllm", url, False)


def test_table_without_service_has_none() -> None:
    apply(NAMED + 'service = "ollama"\n')
    apply(NAMED + 'kind = "anthropic"\nbase_url = "https://api.anthropic.com/v1"\n')
    assert row()[:2] == ("anthropic", "")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (NAMED, 1, "needs the key 'kind', or 'service'"),
        (NAMED + 'service = "olama"\n', 3, "is 'olama', which is not known; write one"),
        (NAMED + 'service = "olama"\n', 3, "azure, deepseek, groq, llamacpp, lmstudio"),
        (NAMED + 'service = "groq"\n', 1, "needs the key 'api_key'"),
        (NAMED + 'service = "groq"\napi_key = ""\n', 1, "needs the key 'api_key'"),
        (NAMED + 'service = "azure"\napi_key = "k"\n', 1, "RESOURCE.openai.azure.com"),
        (NAMED + 'kind = "truss"\nservice = "ollama"\n', 3, "is of the kind 'openai'"),
    ],
)
def test_service_that_cannot_be_is_refused(text: str, line: int, words: str) -> None:
    with pytest.raises(ProvisionError) as caught:
        apply(text)
    error = caught.value
    assert (error.line, words in error.sentence) == (line, True), str(error)
    assert not Provider.objects.exists()
