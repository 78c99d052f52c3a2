"""Which adapter speaks for which kind of provider: one folder and one line each."""

from __future__ import annotations

from collections.abc import Mapping

from sessions_app.domain.errors import ProviderFailed
from sessions_app.providers.anthropic import AnthropicAdapter
from sessions_app.providers.base import ProviderAdapter
from sessions_app.providers.demo import DemoAdapter
from sessions_app.providers.exec import ExecAdapter
from sessions_app.providers.openai import OpenAIAdapter
from sessions_app.providers.truss import TrussAdapter

# One instance of each for the whole process: an adapter may remember what a
# provider refuses.
ADAPTERS: Mapping[str, ProviderAdapter] = {
    "anthropic": AnthropicAdapter(),
    "demo": DemoAdapter(),
    "exec": ExecAdapter(),
    "openai": OpenAIAdapter(),
    "truss": TrussAdapter(),
}


def adapter_for(kind: str) -> ProviderAdapter:
    """The adapter of a kind; a kind without one is a provider that failed."""
    try:
        return ADAPTERS[kind]
    except KeyError as error:
        known = ", ".join(sorted(ADAPTERS))
        raise ProviderFailed(
            diagnosis=f"no adapter for the provider kind {kind!r}; known: {known}"
        ) from error
