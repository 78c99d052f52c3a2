from __future__ import annotations

from sessions_app.models import Attempt, Price
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.upstreams import upstreams
from tests.fakes.fake_upstream import Reply
from tests.fakes.openai_events import DONE, finish, text, usage


async def attempts() -> list[Attempt]:
    return await in_thread(lambda: list(Attempt.objects.order_by("turn", "number")))


async def test_each_attempt_keeps_why_it_ended_and_its_price(engine: Engine) -> None:
    async with upstreams(engine, Reply(status=503)) as pair:
        await pair.run()
    failed, completed = await attempts()
    assert (failed.error_code, failed.error_status) == ("provider_overloaded", 503)
    assert (failed.ttft_ms, failed.tokens_in, failed.cost_usd) == (None, 0, None)
    assert (completed.provider, completed.stop_reason) == ("backup", "stop")
    assert completed.ttft_ms is not None and not completed.is_estimated
    assert completed.price == {
        "model": "*",
        "input": "1",
        "output": "2",
        "origin": "configured",
    }


async def test_price_of_the_receipt_outlives_a_change(engine: Engine) -> None:
    async with upstreams(engine) as pair:
        pair.first.enqueue(Reply([text("a"), finish(), usage(1, 1), DONE]))
        await pair.run()
        await in_thread(lambda: Price.objects.update(input=9))
    (attempt,) = await attempts()
    assert attempt.price["input"] == "1"


async def test_sum_of_attempts_is_what_the_providers_counted(engine: Engine) -> None:
    counts = [(100 + 7 * i, 3 * i) for i in range(12)]
    bills = [Reply([text("a"), finish(), usage(*each), DONE]) for each in counts]
    faults = [Reply(status=500), Reply(status=429)]
    async with upstreams(engine, *faults, *bills) as pair:
        for number in range(len(faults + bills)):
            await pair.run(f"n{number}")
        assert pair.asked == (14, 2)
    rows = await attempts()
    # The second provider stood in twice, and billed 7 and 1 for each.
    assert sum(row.tokens_in for row in rows) == sum(i for i, _ in counts) + 14
    assert sum(row.tokens_out for row in rows) == sum(o for _, o in counts) + 2
    assert not any(row.is_estimated for row in rows)
