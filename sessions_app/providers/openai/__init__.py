"""OpenAI's chat completions, as spoken by OpenAI and most local servers."""

from __future__ import annotations

from sessions_app.providers.openai.adapter import OpenAIAdapter
from sessions_app.providers.openai.services import Service, services

__all__ = ["OpenAIAdapter", "Service", "services"]
