"""Faults and visits that overlap, and what must hold once all is mended."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import psycopg

from tests.drill.books import check_books
from tests.drill.conftest import Site
from tests.drill.mixed_faults import Faults
from tests.drill.plans import FAULTS, Move
from tests.drill.visitors import Visitors
from tests.fakes.client import Client
from tests.fakes.fake_upstream import FakeUpstream
from tests.fakes.live_server import KEY

PATIENCE_S = 60.0
# A lease, a sweep, and what a busy machine needs for them.
SWEPT_S = 10.0
LAPSED = """
SELECT id FROM sessions_app_turn WHERE state = 'running' AND lease_until < now()
"""


class Mix:
    """Does moves to an installation, however many are on; then judges what came of it.

    Leave it as a context, whatever was found: its tasks end with it.
    """

    def __init__(
        self, site: Site, upstream: FakeUpstream, counts: Counter[str]
    ) -> None:
        self._site = site
        self._upstream = upstream
        self._counts = counts
        self._stack = AsyncExitStack()
        self._visiting: list[asyncio.Task[None]] = []
        self._breaking: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Mix:
        enter = self._stack.enter_async_context
        clients = [await enter(Client(web.url, KEY)) for web in self._site.cluster.web]
        self._upstream.requests.clear()
        self._visitors = Visitors(clients, self._upstream, self._counts)
        self._faults = Faults(self._site, self._counts)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        tasks = [*self._breaking, *self._visiting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._stack.aclose()

    async def begin(self, move: Move) -> None:
        """Begin a move after its pause; it goes on beside the next ones."""
        await asyncio.sleep(move.pause_s)
        is_fault = move.name in FAULTS
        doing = (self._faults if is_fault else self._visitors).do(move)
        (self._breaking if is_fault else self._visiting).append(
            asyncio.create_task(doing)
        )

    async def judge(self) -> None:
        """Mend everything; AssertionError or TimeoutError if something was lost."""
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*self._breaking)
        await asyncio.to_thread(self._site.heal)
        await self._site.is_ready()
        url = self._site.cluster.database_url
        await no_lapsed_turn(url)
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*self._visiting)
            await check_books(url)
            await self._visitors.judge()


async def no_lapsed_turn(url: str) -> None:
    """Return once no turn runs past its lease; TimeoutError if one goes on."""

    def lapsed() -> list[tuple[str]]:
        with psycopg.connect(url) as connection:
            return connection.execute(LAPSED).fetchall()

    async with asyncio.timeout(SWEPT_S):
        while await asyncio.to_thread(lapsed):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
