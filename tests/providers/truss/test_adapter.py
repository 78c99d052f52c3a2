from __future__ import annotations

from dataclasses import replace

import pytest

from sessions_app.domain.errors import (
    BadResponse,
    ProviderOverloaded,
    StreamTruncated,
)
from sessions_app.domain.parts import FinishPart, StopReason
from sessions_app.domain.prompt import PromptMessage
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.plain_prompt import prompt_text
from sessions_app.providers.raw_text import TextStream
from sessions_app.providers.truss import TrussAdapter
from tests.fakes.fake_upstream import BROKEN, CUT, RESET, FakeUpstream, Mark, Reply
from tests.fakes.outcomes import Outcome, ask, collect

TEXT = "Grüße, 好 🙂\n\ndata: no event"
RAW = TEXT.encode()


async def answer(
    config: ProviderConfig, upstream: FakeUpstream, reply: Reply
) -> Outcome:
    upstream.enqueue(reply)
    return await collect(TrussAdapter(), config, ask())


def said(*reads: bytes) -> str:
    stream = TextStream()
    text = "".join(part.text for raw in reads for part in stream.feed(raw))  # type: ignore[union-attr]
    assert stream.end() == [FinishPart(StopReason.UNKNOWN)]
    return text


async def test_prompt_goes_to_the_very_address(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    outcome = await answer(config, upstream, Reply([RAW], content_type="text/plain"))
    sent = upstream.requests[0]
    assert outcome.text == TEXT
    assert sent.path == "/v1"
    assert sent.json == {"prompt": "hi", "stream": True}
    assert sent.headers["authorization"] == f"Bearer {config.api_key}"
    assert sent.headers["idempotency-key"] == "key-1"


# C01: wherever the reads cut, the text is the same.
def test_every_cut_gives_the_same_text() -> None:
    assert said(*(bytes([byte]) for byte in RAW)) == TEXT
    for cut in range(len(RAW) + 1):
        assert said(RAW[:cut], RAW[cut:]) == TEXT


def test_end_within_a_character_is_a_truncation() -> None:
    stream = TextStream()
    stream.feed(b"Hel\xe5")
    with pytest.raises(StreamTruncated):
        stream.end()


# C19: PostgreSQL cannot store NUL.
def test_unstorable_characters_are_left_out() -> None:
    assert said(b"A\0B", b"\0") == "AB"


# C07: HTTP's own end is the only mark of a whole reply.
@pytest.mark.parametrize("mark", [CUT, RESET, BROKEN])
async def test_broken_body_is_a_truncation(
    config: ProviderConfig, upstream: FakeUpstream, mark: Mark
) -> None:
    outcome = await answer(config, upstream, Reply([b"Hel", 0.1, mark]))
    assert outcome.text == "Hel"
    assert isinstance(outcome.error, StreamTruncated)
    assert outcome.finish is None


async def test_empty_body_is_no_answer(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    outcome = await answer(config, upstream, Reply([]))
    assert isinstance(outcome.error, BadResponse)


async def test_page_of_markup_is_no_answer(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    page = Reply([b"<html>Log in</html>"], content_type="text/html; charset=utf-8")
    outcome = await answer(config, upstream, page)
    assert isinstance(outcome.error, BadResponse)


async def test_overload_is_a_status(
    config: ProviderConfig, upstream: FakeUpstream
) -> None:
    outcome = await answer(config, upstream, Reply([b"busy"], status=503))
    assert isinstance(outcome.error, ProviderOverloaded)


def test_conversation_names_its_speakers() -> None:
    messages = [
        PromptMessage("system", "Be kind."),
        PromptMessage("user", "Hi"),
        PromptMessage("assistant", "Hello"),
        PromptMessage("user", "Bye"),
    ]
    assert prompt_text(replace(ask(), messages=messages)) == (
        "Be kind.\n\nUser: Hi\n\nAssistant: Hello\n\nUser: Bye\n\nAssistant:"
    )
