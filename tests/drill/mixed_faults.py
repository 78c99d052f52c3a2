"""Faults that end by themselves, so that several can be on at a time."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from pathlib import Path

from redis import Redis

from tests.drill.conftest import TIMES, Site
from tests.drill.plans import Move
from tests.fakes.live_server import LiveServer, ServerFailed
from tests.fakes.lost_bells import LostBells

LEASE_S = float(TIMES["LANTERN_LEASE_S"])
RISE_S = 50.0


class Faults:
    """Does one fault at a time to each part of an installation; ``counts`` them."""

    def __init__(self, site: Site, counts: Counter[str]) -> None:
        self.site = site
        self.counts = counts
        self._parts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def do(self, move: Move) -> None:
        """From the beginning of a fault to its end."""
        part = move.name.partition("_")[0]
        place = f"{part}{move.which % 2}" if part in ("worker", "web") else part
        async with self._parts[place]:
            await getattr(self, move.name)(move)
            self.counts[f"fault {move.name}"] += 1

    async def worker_killed(self, move: Move) -> None:
        worker = self.site.cluster.workers[move.which % 2]
        worker.kill()
        await asyncio.sleep(move.lasts_s)
        await rise(worker)

    async def worker_frozen(self, move: Move) -> None:
        worker = self.site.cluster.workers[move.which % 2]
        worker.freeze()
        await asyncio.sleep(LEASE_S + move.lasts_s)
        worker.thaw()

    async def worker_asked_to_stop(self, move: Move) -> None:
        worker = self.site.cluster.workers[move.which % 2]
        await asyncio.to_thread(worker.stop)
        await rise(worker)

    async def web_killed(self, move: Move) -> None:
        server = self.site.cluster.web[move.which % 2]
        server.kill()
        await asyncio.sleep(move.lasts_s)
        await rise(server)

    async def redis_killed(self, move: Move) -> None:
        self.site.redis.kill()
        await asyncio.sleep(move.lasts_s)
        await asyncio.to_thread(self.site.redis.start)

    async def redis_frozen(self, move: Move) -> None:
        self.site.redis.freeze()
        await asyncio.sleep(move.lasts_s * 2)
        self.site.redis.thaw()

    async def redis_restored(self, move: Move) -> None:
        redis = self.site.redis
        with Redis(port=redis.port) as client:
            client.save()
        await asyncio.sleep(move.lasts_s)
        redis.kill()
        await asyncio.to_thread(redis.start)
        (Path(redis.folder) / "dump.rdb").unlink()

    async def redis_reset(self, move: Move) -> None:
        self.site.redis_proxy.reset()

    async def bells_lost(self, move: Move) -> None:
        self.site.redis_proxy.filter_of = LostBells
        await asyncio.sleep(move.lasts_s)
        self.site.redis_proxy.heal()

    async def database_reset(self, move: Move) -> None:
        self.site.database_proxy.reset()

    async def database_cut_off(self, move: Move) -> None:
        self.site.database_proxy.freeze()
        await asyncio.sleep(LEASE_S + move.lasts_s)
        self.site.database_proxy.heal()

    async def database_down(self, move: Move) -> None:
        await asyncio.to_thread(self.site.postgres.stop, "immediate")
        await asyncio.sleep(move.lasts_s)
        await asyncio.to_thread(self.site.postgres.start)

    async def upstream_silent(self, move: Move) -> None:
        self.site.upstream_proxy.freeze()
        await asyncio.sleep(2 + move.lasts_s)  # its patience, and more
        self.site.upstream_proxy.heal()

    async def upstream_reset(self, move: Move) -> None:
        self.site.upstream_proxy.reset()

    async def upstream_truncated(self, move: Move) -> None:
        self.site.upstream_proxy.truncate(70 + move.which)
        await asyncio.sleep(move.lasts_s)
        self.site.upstream_proxy.heal()


async def rise(server: LiveServer) -> None:
    """Start it, again and again as a supervisor would while its services are away."""
    async with asyncio.timeout(RISE_S):
        while not server.is_running():
            try:
                await asyncio.to_thread(server.start)
            except ServerFailed:
                await asyncio.sleep(0.2)
