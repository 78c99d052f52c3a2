from __future__ import annotations

from typing import Any

import pytest

from sessions_app.domain.parts import UsagePart
from sessions_app.providers.openai.usage import usage_part


def counts(prompt: int, completion: int, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, **more}


# C61
@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (
            counts(
                2000, 300,
                prompt_tokens_details={"cached_tokens": 1900},
                completion_tokens_details={"reasoning_tokens": 120},
                total_tokens=2300,
            ),
            UsagePart(2000, 300, cached_tokens_in=1900, reasoning_tokens=120),
        ),
        (
            counts(
                32, 9,
                completion_tokens_details={"reasoning_tokens": 94},
                total_tokens=135,
            ),
            UsagePart(32, 103, reasoning_tokens=94),
        ),
        (
            counts(
                21, 0,
                completion_tokens_details={"reasoning_tokens": 60},
                total_tokens=81,
            ),
            UsagePart(21, 60, reasoning_tokens=60),
        ),
        (counts(7, 1, prompt_tokens_details=None), UsagePart(7, 1)),
        (counts(7, 9, reasoning_tokens=20), UsagePart(7, 29, reasoning_tokens=20)),
        (counts(7, 1, prompt_cache_hit_tokens=3), UsagePart(7, 1, cached_tokens_in=3)),
    ],
)  # fmt: skip
def test_counts_are_whole_sums(reported: dict[str, Any], expected: UsagePart) -> None:
    assert usage_part(reported) == expected


# C63
def test_explicit_zero_is_kept() -> None:
    assert usage_part(counts(0, 0)) == UsagePart(tokens_in=0, tokens_out=0)


@pytest.mark.parametrize("bad", [None, "7", -1, True, float("nan"), float("inf"), []])
def test_unusable_count_is_absent(bad: object) -> None:
    reported = {"prompt_tokens": bad, "completion_tokens": 2.0}
    assert usage_part(reported) == UsagePart(tokens_out=2)


def test_object_without_counts_is_none() -> None:
    assert usage_part({}) is None
    assert usage_part({"prompt_tokens": None}) is None
