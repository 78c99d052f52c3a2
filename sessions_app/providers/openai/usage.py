"""Token counts of a reply, from the many forms in which they are reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessions_app.domain.parts import UsagePart


def usage_part(usage: Mapping[str, Any]) -> UsagePart | None:
    """The counts as whole sums; None if the object holds none."""
    prompt = _count(usage, "prompt_tokens")
    completion = _count(usage, "completion_tokens")
    prompt_details = _mapping(usage, "prompt_tokens_details")
    reasoning = _first(
        _count(_mapping(usage, "completion_tokens_details"), "reasoning_tokens"),
        _count(usage, "reasoning_tokens"),
    )
    part = UsagePart(
        tokens_in=prompt,
        tokens_out=_whole_output(
            prompt, completion, reasoning, _count(usage, "total_tokens")
        ),
        cached_tokens_in=_first(
            _count(prompt_details, "cached_tokens"),
            _count(usage, "prompt_cache_hit_tokens"),
            _count(usage, "cached_tokens"),
        ),
        cache_write_tokens_in=_count(prompt_details, "cache_write_tokens"),
        reasoning_tokens=reasoning,
    )
    return None if part == UsagePart() else part


def usage_within(holder: object) -> dict[str, Any] | None:
    """The counts that a service puts into an object of its own."""
    usage = holder.get("usage") if isinstance(holder, dict) else None
    return usage if isinstance(usage, dict) else None


def _whole_output(
    prompt: int | None, completion: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """Completion tokens, plus the reasoning where it is not yet part of them.

    Most providers count reasoning inside the completion, some beside it. The total
    tells which; without one, more reasoning than completion does.
    """
    if completion is None or not reasoning:
        return completion
    if total is not None and prompt is not None:
        is_beside = total == prompt + completion + reasoning
    else:
        is_beside = reasoning > completion
    return completion + reasoning if is_beside else completion


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value < 0 or value != value or value == float("inf"):
        return None
    return int(value)


def _mapping(usage: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = usage.get(name)
    return value if isinstance(value, dict) else {}


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)
