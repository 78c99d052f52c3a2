from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.domain.parts import Part, ReasoningPart, TextPart
from sessions_app.providers.openai.think import ThinkFilter

PIECES = st.sampled_from(
    ["<think>", "</think>", "<th", "ink>", "a", " ", "\n", "<", "`"]
)


def split(*fragments: str) -> tuple[str, str]:
    think = ThinkFilter()
    parts: list[Part] = []
    for fragment in fragments:
        parts += think.feed(fragment)
    parts += think.flush()
    shown = "".join(part.text for part in parts if isinstance(part, TextPart))
    hidden = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
    return shown, hidden


# C17
@pytest.mark.parametrize(
    ("fragments", "shown", "hidden"),
    [
        (["<th", "ink>secret</thi", "nk>Hi"], "Hi", "secret"),
        (["if a <th", "ree"], "if a <three", ""),
        (["if a <th"], "if a <th", ""),
        (["<think>secret"], "", "secret"),
        (["<think>secret</th"], "", "secret</th"),
        (["\n", "<think>", "x", "</think>", "\n\n", "Hi"], "Hi", "x"),
        (["Hi <think>x</think> there"], "Hi  there", "x"),
        (["a < b", " and c <"], "a < b and c <", ""),
        (["A `<think>` tag, `", "<think>`."], "A `<think>` tag, `<think>`.", ""),
        (["  ", "code"], "  code", ""),
        ([" ", "\n"], "", ""),
        (["<<think>x</think>Hi"], "<Hi", "x"),
    ],
)  # fmt: skip
def test_tags_split_text(fragments: list[str], shown: str, hidden: str) -> None:
    assert split(*fragments) == (shown, hidden)


def test_text_is_not_held_back() -> None:
    think = ThinkFilter()
    assert think.feed("Hi") == [TextPart("Hi")]
    assert think.feed(" <") == [TextPart(" ")]
    assert think.feed("b") == [TextPart("<b")]


@given(st.lists(PIECES, min_size=1, max_size=20))
def test_fragments_do_not_matter(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert split(*pieces) == split(text) == split(*text)
