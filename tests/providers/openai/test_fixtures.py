from __future__ import annotations

from pathlib import Path

from sessions_app.domain.errors import ProviderRateLimited, StreamTruncated
from sessions_app.domain.parts import FinishPart, StopReason, UsagePart
from tests.fakes.outcomes import read_reply

FOLDER = Path(__file__).parent.parent / "fixtures" / "openai"


def fixture(name: str) -> list[bytes]:
    return [(FOLDER / name).read_bytes()]


def test_no_replacement_mark_from_real_server() -> None:
    outcome = read_reply(fixture("llama_multibyte.sse"))
    assert outcome.text.startswith("请重复：你好世界 🙂🙂 谢谢")
    assert "\ufffd" not in outcome.text


def test_real_stream_with_usage() -> None:
    outcome = read_reply(fixture("llama_stream_usage.sse"))
    assert outcome.error is None
    assert outcome.text
    assert outcome.usage == UsagePart(31, 24, cached_tokens_in=0)


def test_real_stream_without_usage() -> None:
    outcome = read_reply(fixture("llama_stream_no_usage.sse"))
    assert outcome.finish == FinishPart(StopReason.STOP, model="gemma-3-270m")
    assert outcome.usage == UsagePart()


def test_real_stream_cut_at_limit() -> None:
    outcome = read_reply(fixture("llama_stream_length.sse"))
    assert outcome.finish == FinishPart(StopReason.LENGTH, model="gemma-3-270m")
    assert outcome.usage.tokens_out == 5


def test_real_answer_without_stream() -> None:
    outcome = read_reply(fixture("llama_plain.json"))
    assert outcome.deltas == ["Write one word about the sea"]
    assert outcome.usage.tokens_in == 31


# C08
def test_odd_shapes_give_one_delta() -> None:
    outcome = read_reply(fixture("shapes.sse"))
    assert outcome.deltas == ["A"]
    assert outcome.usage == UsagePart(tokens_in=7, tokens_out=1)
    assert outcome.finish == FinishPart(StopReason.STOP)


# C01 C03 C04
def test_multibyte_over_crlf_with_bom() -> None:
    assert read_reply(fixture("multibyte_crlf.sse")).deltas == ["好", "🙂"]


# C03 C04 C06
def test_data_lines_join_over_cr() -> None:
    outcome = read_reply(fixture("split_data_lines_cr.sse"))
    assert outcome.deltas == ["A"]
    assert outcome.finish == FinishPart(StopReason.STOP)


# C17
def test_reasoning_stays_hidden() -> None:
    outcome = read_reply(fixture("reasoning_and_think.sse"))
    assert outcome.text == "Hi"
    assert outcome.reasoning == "plansecret"


# C09 C10
def test_text_comes_before_the_error() -> None:
    outcome = read_reply(fixture("error_after_text.sse"))
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, ProviderRateLimited)
    assert outcome.error.status == 429


# C01 C07
def test_end_inside_character_is_truncation() -> None:
    outcome = read_reply(fixture("cut_in_character.sse"))
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, StreamTruncated)


# C17 C19
def test_unstorable_text_is_cleaned() -> None:
    outcome = read_reply(fixture("nul_and_surrogates.sse"))
    assert outcome.deltas == ["AB", "x\ufffdy 🙂", "CD"]
