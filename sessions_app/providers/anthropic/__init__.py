"""Anthropic's Messages API, and what speaks its dialect."""

from __future__ import annotations

from sessions_app.providers.anthropic.adapter import AnthropicAdapter

__all__ = ["AnthropicAdapter"]
