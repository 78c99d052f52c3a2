"""The server dies while a tool runs: the tool is never run again.

``LANTERN_KILLS`` says how often; the suite does it some times.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter

import pytest

from tests.e2e.conftest import Serve
from tests.fakes.client import Client
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, call, calls, finish, text
from tests.fakes.waiting import until

KILLS = int(os.environ.get("LANTERN_KILLS", "4"))
TOOL = """
[[tool]]
name = "order"
kind = "http"
url = "{url}/orders"
method = "POST"
input_schema = {{ type = "object", properties = {{ n = {{ type = "integer" }} }} }}
allow_private = true

[[agent]]
slug = "buyer"
route = ["primary/gpt-x"]
tools = ["order"]
"""

pytestmark = [pytest.mark.live, pytest.mark.timeout(60 + 10 * KILLS)]


def order(number: int) -> Reply:
    entry = call(f'{{"n":{number}}}', index=0, id=f"call_{number}", name="order")
    return Reply([calls(entry), finish("tool_calls"), DONE])


async def test_tool_killed_in_mid_call_is_not_run_again(
    serve: Serve, upstream: FakeUpstream
) -> None:
    async with FakeUpstream() as shop:
        shop.enqueue(Reply([0.05, b"done"], content_type="text/plain"))
        server = serve(upstream.base_url, TOOL.format(url=shop.base_url))
        server.may_complain = True
        for number in range(KILLS):
            upstream.replace(order(number), Reply([text("ok"), finish(), DONE]))
            async with Client(server.url, KEY) as client:
                posted = await client.post(await client.create(agent="buyer"))
                await until(lambda n=number: len(shop.requests) > n, 10)
                await asyncio.sleep(random.uniform(0, 0.08))
                server.kill()
                await asyncio.to_thread(server.start)
                turn = await client.ended(posted, 10)
            assert turn["status"] in ("failed", "completed")
        runs = Counter(request.headers["idempotency-key"] for request in shop.requests)
    assert len(runs) == KILLS
    assert set(runs.values()) == {1}
