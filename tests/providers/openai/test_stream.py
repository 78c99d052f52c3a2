from __future__ import annotations

import pytest

from sessions_app.domain.errors import (
    BadResponse,
    ProviderAuth,
    ProviderError,
    ProviderFailed,
    ProviderOverloaded,
    ProviderRateLimited,
    ProviderRefused,
    StreamTruncated,
)
from sessions_app.domain.parts import FinishPart, StopReason, TextPart, UsagePart
from sessions_app.providers.openai.stream import ReplyStream
from tests.fakes.openai_events import DONE, delta, event, finish, text, usage
from tests.fakes.outcomes import read_reply

STOP = FinishPart(StopReason.STOP)


def test_delta_comes_with_its_read() -> None:
    stream = ReplyStream()
    assert stream.feed(text("Hel")) == [TextPart("Hel")]
    assert stream.feed(text("lo") + text("!")) == [TextPart("lo"), TextPart("!")]


# C04
@pytest.mark.parametrize("colon", [b"data:", b"data: ", b"data:  "])
def test_spaces_after_colon_do_not_matter(colon: bytes) -> None:
    raw = (text("A") + finish() + DONE).replace(b"data: ", colon)
    assert read_reply([raw]).deltas == ["A"]


# C06
def test_done_without_newline_completes() -> None:
    outcome = read_reply([text("A") + finish() + b"data: [DONE]"])
    assert outcome.finish == STOP


# C06
def test_done_ends_before_the_body_does() -> None:
    outcome = read_reply([text("A") + finish() + DONE], has_ended=False)
    assert outcome.finish == STOP


# C06
def test_bytes_after_done_are_ignored() -> None:
    raw = text("A") + finish() + DONE + event({"x": 1}) + text("B")
    assert read_reply([raw]).text == "A"


# C06
def test_whole_last_event_without_newline_counts() -> None:
    raw = text("A") + finish().rstrip()
    assert read_reply([raw]).finish == STOP


# C07
@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (finish("stop"), StopReason.STOP),
        (DONE, StopReason.UNKNOWN),
        (finish("length") + DONE, StopReason.LENGTH),
    ],
)
def test_proper_ends_complete(tail: bytes, reason: StopReason) -> None:
    outcome = read_reply([text("Hel") + tail])
    assert outcome.error is None
    assert outcome.finish == FinishPart(reason)


# C07
@pytest.mark.parametrize("tail", [b"", b": ping\n\n", b'data: {"choices":[{"in'])
def test_end_without_marker_is_truncation(tail: bytes) -> None:
    outcome = read_reply([text("Hel") + tail])
    assert outcome.deltas == ["Hel"]
    assert outcome.finish is None
    assert isinstance(outcome.error, StreamTruncated)


# C07 C17
@pytest.mark.parametrize(
    "raw",
    [
        delta(reasoning_content="plan"),
        delta(reasoning_content="plan") + finish() + DONE,
        text("<think>secret") + finish() + DONE,
        text(" \n<think>secret</think>\n") + finish() + DONE,
    ],
)
def test_reasoning_alone_is_no_reply(raw: bytes) -> None:
    outcome = read_reply([raw])
    assert outcome.text == ""
    assert isinstance(outcome.error, StreamTruncated)


# C09
@pytest.mark.parametrize(
    ("raw", "kind", "status"),
    [
        (event({"error": {"message": "q", "code": 429}}), ProviderRateLimited, 429),
        (event({"error": {"message": "q", "code": "429"}}), ProviderRateLimited, 429),
        (event({"error": "boom"}), ProviderFailed, None),
        (b"event: error\n" + event({"message": "boom"}), ProviderFailed, None),
        (b"event: error\ndata: boom\n\n", BadResponse, None),
        (
            event(
                {
                    "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
                    "error": {"code": 502, "message": "x"},
                }
            ),
            ProviderFailed,
            502,
        ),
        (event({"error": {"type": "overloaded_error"}}), ProviderOverloaded, 529),
        (event({"error": {"code": "invalid_api_key"}}), ProviderAuth, 401),
        (event({"error": {"code": 400}}), ProviderRefused, 400),
        (finish("error"), ProviderFailed, 500),
        (finish("insufficient_system_resource"), ProviderOverloaded, 529),
    ],
)
@pytest.mark.parametrize("before", [b"", text("Hel")])
def test_error_in_reply_is_an_error(
    raw: bytes, kind: type[ProviderError], status: int | None, before: bytes
) -> None:
    outcome = read_reply([before + raw + DONE])
    assert outcome.deltas == (["Hel"] if before else [])
    assert outcome.finish is None
    assert type(outcome.error) is kind
    assert outcome.error.status == status


# C09
def test_null_error_is_none() -> None:
    chunk = {"choices": [{"delta": {"content": "A"}}], "error": None}
    assert read_reply([event(chunk) + finish()]).error is None


# C10
def test_role_alone_then_end_is_truncation() -> None:
    outcome = read_reply([delta(role="assistant", content="")])
    assert outcome.parts == []
    assert isinstance(outcome.error, StreamTruncated)


# C11
@pytest.mark.parametrize(
    "body",
    [b"", b": ping\n\n: ping\n\n", DONE, b"<!doctype html><p>Sign in", b"null", b"[]",
     b" \n", b"nothing to see", b'"text"', b"{}", b"{broken"],
)  # fmt: skip
def test_body_without_reply_is_bad(body: bytes) -> None:
    outcome = read_reply([body])
    assert outcome.parts == []
    assert isinstance(outcome.error, BadResponse)


# C11
def test_page_of_markup_fails_at_once() -> None:
    outcome = read_reply([b"<html>"], has_ended=False)
    assert isinstance(outcome.error, BadResponse)


# C11
def test_whole_answer_instead_of_stream() -> None:
    answer = (
        b'{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],'
        b'"model":"m","usage":{"prompt_tokens":3,"completion_tokens":2}}'
    )
    outcome = read_reply([b"\n" + answer])
    assert outcome.parts == [
        TextPart("Hello"),
        UsagePart(tokens_in=3, tokens_out=2),
        FinishPart(StopReason.STOP, model="m"),
    ]


# C11
def test_whole_error_answer_is_an_error() -> None:
    outcome = read_reply([b'{"error":{"message":"slow down","code":429}}'])
    assert isinstance(outcome.error, ProviderRateLimited)


# C15
@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("length", StopReason.LENGTH),
        ("content_filter", StopReason.CONTENT_FILTER),
        ("tool_calls", StopReason.STOP),
        ("something_new", StopReason.UNKNOWN),
    ],
)
def test_finish_word_after_text(word: str, reason: StopReason) -> None:
    outcome = read_reply([text("A") + finish(word) + DONE])
    assert outcome.finish == FinishPart(reason, is_tool_calls=False)


def test_empty_finish_word_is_none() -> None:
    raw = delta(content="A", finish="") + text("B") + finish("stop")
    outcome = read_reply([raw])
    assert outcome.text == "AB"
    assert outcome.finish == STOP


def test_provider_may_say_nothing_and_stop() -> None:
    assert read_reply([finish("stop") + DONE]).parts == [STOP]


def test_tool_finish_without_anything_is_bad() -> None:
    outcome = read_reply([finish("tool_calls") + DONE])
    assert isinstance(outcome.error, BadResponse)


def test_refusal_is_shown_and_filtered() -> None:
    outcome = read_reply([delta(refusal="I cannot.") + finish("stop") + DONE])
    assert outcome.text == "I cannot."
    assert outcome.finish == FinishPart(StopReason.CONTENT_FILTER)


def test_other_choices_are_left_out() -> None:
    other = event({"choices": [{"index": 1, "delta": {"content": "no"}}]})
    assert read_reply([text("yes") + other + finish()]).text == "yes"


# C60
def test_running_usage_is_not_added_up() -> None:
    raw = text("A") + usage(10, 1) + usage(10, 2) + usage(10, 3) + finish() + DONE
    assert read_reply([raw]).usage == UsagePart(tokens_in=10, tokens_out=3)


# C63
def test_zero_usage_stays_zero() -> None:
    outcome = read_reply([text("A") + finish() + usage(0, 0) + DONE])
    assert outcome.usage == UsagePart(tokens_in=0, tokens_out=0)


def test_event_that_is_no_json_is_bad() -> None:
    outcome = read_reply([text("Hel") + b"data: {oops\n\n" + text("lo") + DONE])
    assert outcome.deltas == ["Hel"]
    assert isinstance(outcome.error, BadResponse)


def test_deep_nesting_is_bad_not_a_crash() -> None:
    raw = b"data: " + b"[" * 100_000 + b"]" * 100_000 + b"\n\n"
    assert isinstance(read_reply([raw]).error, BadResponse)


def test_bad_utf8_becomes_replacement_mark() -> None:
    raw = b'data: {"choices":[{"delta":{"content":"a\xffb"}}]}\n\n'
    assert read_reply([raw + finish()]).text == "a\ufffdb"


def test_key_in_error_text_is_redacted() -> None:
    stream = ReplyStream("swordfish")
    stream.feed(event({"error": {"message": "bad swordfish at https://a.example/x"}}))
    assert stream.error is not None
    assert "swordfish" not in stream.error.diagnosis
    assert "a.example" not in stream.error.diagnosis
