"""Finish words to stop reasons."""

from __future__ import annotations

from collections.abc import Mapping

from sessions_app.domain.parts import StopReason

TOOL_WORDS = frozenset({"tool_calls", "function_call"})
FAILURE_WORDS = frozenset({"error", "insufficient_system_resource"})

_REASONS: Mapping[str, StopReason] = {
    "stop": StopReason.STOP,
    "eos": StopReason.STOP,
    "end_turn": StopReason.STOP,
    "stop_sequence": StopReason.STOP,
    "tool_calls": StopReason.STOP,
    "function_call": StopReason.STOP,
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
    "refusal": StopReason.CONTENT_FILTER,
}

# A reply that ended so may have been cut inside its last tool call.
CUT_REASONS = frozenset({StopReason.LENGTH, StopReason.CONTENT_FILTER})


def stop_reason(word: str) -> StopReason:
    """The reason for a finish word; UNKNOWN for none or a new one."""
    return _REASONS.get(word, StopReason.UNKNOWN)
