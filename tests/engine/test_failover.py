from __future__ import annotations

import pytest

from sessions_app.models import Attempt, Message, Provider
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.upstreams import GOOD, deltas, end, upstreams
from tests.fakes.fake_upstream import CUT, HOLD, RESET, Reply
from tests.fakes.openai_events import DONE, delta, event, finish, text

OVERLOADED = event({"error": {"type": "overloaded_error", "message": "Overloaded"}})
ROLE = delta(role="assistant", content="")
JSON = "application/json"


# C10 A, B, T and F; C11 1, 2, 3 and 5; C22 4: nothing was shown
SILENT = {
    "error after the preamble": Reply([b": ping\n\n", ROLE, OVERLOADED]),
    "role, then the end": Reply([ROLE]),
    "reasoning, then an error": Reply([delta(reasoning_content="hm"), OVERLOADED]),
    "error first": Reply([OVERLOADED, DONE]),
    "429": Reply(status=429),
    "500": Reply(status=500),
    "502": Reply(status=502),
    "503": Reply(status=503),
    "529": Reply(status=529),
    "401": Reply(status=401),
    "403": Reply(status=403),
    "404": Reply(status=404),
    "reset": Reply([RESET], framing="raw"),
    "no first content": Reply([ROLE, HOLD]),
    "no answer": Reply([HOLD], framing="raw"),
    "keep-alives alone": Reply([b": ping\n\n", 0.3, b": ping\n\n", 0.3, HOLD]),
    "empty body": Reply(),
    "comments alone": Reply([b": ping\n\n"]),
    "done alone": Reply([DONE]),
    "login page": Reply([b"<html>Sign in</html>"], content_type="text/html"),
    "null": Reply([b"null"], content_type=JSON),
}


@pytest.mark.parametrize("reply", SILENT.values(), ids=SILENT)
async def test_failure_before_content_fails_over(engine: Engine, reply: Reply) -> None:
    async with upstreams(engine, reply) as pair:
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")
    assert deltas(events) == [(1, "fine")]
    assert (
        pair.second.requests[0].headers["idempotency-key"]
        != (pair.first.requests[0].headers["idempotency-key"])
    )


# C10 C and D, C22 2 and 3: two models never write one answer
SHOWN = {
    "error in a later read": Reply([text("Hel"), 0.05, OVERLOADED]),
    "error in the same read": Reply([text("Hel") + OVERLOADED]),
    "cut": Reply([text("Hel"), CUT]),
    "end without a finish": Reply([text("Hel")]),
    "silence": Reply([text("Hel"), HOLD]),
    "keep-alives": Reply([text("Hel"), *[0.2, b": ping\n\n"] * 20]),
}


@pytest.mark.parametrize("reply", SHOWN.values(), ids=SHOWN)
async def test_failure_after_content_is_an_error(engine: Engine, reply: Reply) -> None:
    async with upstreams(engine, reply) as pair:
        events = await pair.run()
    assert end(events)[0] == "message_error"
    assert deltas(events) == [(1, "Hel")]
    assert pair.asked == (1, 0)
    assert not await in_thread(Message.objects.filter(role="assistant").exists)


async def test_refused_request_is_not_asked_elsewhere(engine: Engine) -> None:
    async with upstreams(engine, Reply(status=400)) as pair:
        events = await pair.run()
    assert end(events) == ("turn_failed", "provider_refused")
    assert pair.asked == (2, 0)  # the second without the option for usage


# A longer model might fit it, but would cost what nobody chose
CONTEXT = b"""{"error":{"message":"This model's maximum context length is 8192 tokens.",
"type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"""


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        (Reply([CONTEXT], 400, content_type=JSON), 2),  # again without the usage option
        (Reply([b"data: " + CONTEXT.replace(b"\n", b" ") + b"\n\n"]), 1),
        (Reply([CONTEXT], content_type=JSON), 1),
    ],
    ids=["400", "in a stream", "in a document"],
)
async def test_too_long_prompt_is_not_asked_elsewhere(
    engine: Engine, reply: Reply, asked: int
) -> None:
    async with upstreams(engine, reply) as pair:
        events = await pair.run()
    assert end(events) == ("turn_failed", "provider_refused")
    assert pair.asked == (asked, 0)


# C10 G
async def test_chain_without_an_answer_still_ends(engine: Engine) -> None:
    async with upstreams(engine, Reply(status=500)) as pair:
        pair.second.enqueue(Reply(status=503))
        pair.second.requests.clear()
        await pair.run()
        events = await pair.run()
    assert end(events) == ("turn_failed", "provider_overloaded")
    assert [kind for kind, _ in events][-2:] == ["agent.message", "session.status_idle"]


async def test_failover_off_stays_with_the_first(engine: Engine) -> None:
    async with upstreams(engine, Reply(status=503)) as pair:
        events = await pair.run(allow_failover=False)
    assert end(events) == ("turn_failed", "provider_overloaded")
    assert pair.asked == (1, 0)


# C11 4 and 6
@pytest.mark.parametrize(
    "reply",
    [
        Reply(
            [
                b'{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}],'
                b'"usage":{"prompt_tokens":5,"completion_tokens":2}}'
            ],
            content_type=JSON,
        ),
        Reply([b": ping\n\n", 0.05, text("whole"), finish(), DONE], content_type=JSON),
    ],
    ids=["body", "stream"],
)
async def test_answer_under_another_label_is_read(engine: Engine, reply: Reply) -> None:
    async with upstreams(engine, reply) as pair:
        events = await pair.run()
    assert end(events) == ("message_completed", "whole")
    assert (deltas(events), pair.asked) == ([(1, "whole")], (1, 0))


# C22 1 and 5: slow is not silent
async def test_slow_answer_is_waited_for(engine: Engine) -> None:
    slow = Reply([0.3, text("a"), 0.3, text("b"), 0.3, text("c"), finish(), DONE])
    async with upstreams(engine, slow) as pair:
        events = await pair.run()
    assert end(events) == ("message_completed", "abc")


async def test_nobody_at_the_address_fails_over(engine: Engine) -> None:
    async with upstreams(engine, GOOD) as pair:
        update = await in_thread(Provider.objects.get, name="primary")
        update.base_url = "http://127.0.0.1:1/v1"
        await in_thread(update.save)
        events = await pair.run()
    assert end(events) == ("message_completed", "fine")
    assert pair.asked == (0, 1)


async def test_dead_pooled_connection_is_not_an_attempt(engine: Engine) -> None:
    closing = Reply([text("fine"), finish(), DONE])
    async with upstreams(engine, closing, Reply([RESET], framing="raw"), GOOD) as pair:
        await pair.run("one")
        events = await pair.run("two")
    assert end(events) == ("message_completed", "fine")
    keys = [each.headers["idempotency-key"] for each in pair.first.requests]
    assert (len(keys), keys[1] == keys[2], pair.asked[1]) == (3, True, 0)
    assert await in_thread(Attempt.objects.filter(turn__ordinal=2).count) == 1
