"""Stop reasons of a message to stop reasons of a reply."""

from __future__ import annotations

from collections.abc import Mapping

from sessions_app.domain.parts import StopReason

TOOL_USE = "tool_use"

_REASONS: Mapping[str, StopReason] = {
    "end_turn": StopReason.STOP,
    "stop_sequence": StopReason.STOP,
    TOOL_USE: StopReason.STOP,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "refusal": StopReason.CONTENT_FILTER,
}

# A reply that ended so may have been cut inside its last tool call.
CUT_REASONS = frozenset({StopReason.LENGTH, StopReason.CONTENT_FILTER})


def stop_reason(word: str) -> StopReason:
    """The reason for a word; UNKNOWN for none or a new one."""
    return _REASONS.get(word, StopReason.UNKNOWN)
