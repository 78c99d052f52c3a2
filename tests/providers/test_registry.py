from __future__ import annotations

import pytest

from sessions_app.domain.errors import ProviderFailed
from sessions_app.providers.demo import DemoAdapter
from sessions_app.providers.openai import OpenAIAdapter
from sessions_app.providers.registry import adapter_for


def test_kinds_have_their_adapters() -> None:
    assert isinstance(adapter_for("openai"), OpenAIAdapter)
    assert isinstance(adapter_for("demo"), DemoAdapter)


def test_adapter_is_shared() -> None:
    assert adapter_for("openai") is adapter_for("openai")


def test_unknown_kind_names_the_known_ones() -> None:
    with pytest.raises(ProviderFailed) as caught:
        adapter_for("nonsense")
    assert (
        "'nonsense'; known: anthropic, demo, exec, openai, truss"
        in caught.value.diagnosis
    )
