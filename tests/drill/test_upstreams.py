"""Providers that fall silent, break off, or end too early, behind a network."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.drill.acts import PATIENCE_S, during, judge, slow_reply
from tests.drill.conftest import Site
from tests.drill.history import watch
from tests.fakes.client import Client, Event
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.fault_proxy import FaultProxy
from tests.fakes.live_server import KEY

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]

BREAKS: dict[str, Callable[[FaultProxy], None]] = {
    "silent": FaultProxy.freeze,
    "reset": FaultProxy.reset,
    "truncated": lambda proxy: proxy.truncate(70),
}


@pytest.mark.parametrize("how", BREAKS)
async def test_provider_breaks_off_after_its_first_token(
    site: Site, upstream: FakeUpstream, how: str
) -> None:
    upstream.enqueue(slow_reply())

    async def act() -> None:
        BREAKS[how](site.upstream_proxy)

    for events in await during(site.cluster, act, agent="hasty"):
        assert events[-1].kind == "message_error"
        expected = "provider_timeout" if how == "silent" else "stream_truncated"
        assert events[-1].data["code"] == expected


async def test_provider_breaks_off_before_its_first_token(
    site: Site, upstream: FakeUpstream
) -> None:
    upstream.enqueue(Reply([HOLD]))
    for how in (*BREAKS.values(), refuse):
        how(site.upstream_proxy)
        async with Client(site.cluster.web[0].url, KEY) as client:
            posted = await client.post(await client.create(agent="hasty"))
            seen: list[Event] = []
            await asyncio.wait_for(watch(client, posted, seen), PATIENCE_S)
            turn = await judge(client, posted, seen)
        site.upstream_proxy.heal()
        assert seen[-1].kind == "turn_failed"
        assert turn["usage"]["tokensOut"] == 0


def refuse(proxy: FaultProxy) -> None:
    proxy.is_refusing = True
