"""OpenAI's chat completions, as spoken by OpenAI and most local servers."""

from __future__ import annotations

from sessions_app.providers.openai.adapter import OpenAIAdapter

__all__ = ["OpenAIAdapter"]
