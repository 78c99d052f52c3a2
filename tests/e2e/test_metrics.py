"""``/metrics`` of installations of several processes, each over its socket."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import TOML
from tests.fakes.client import Client
from tests.fakes.cluster import Cluster, Several, Worker
from tests.fakes.fake_upstream import HOLD, FakeUpstream, Reply
from tests.fakes.live_server import KEY, SERVER
from tests.fakes.openai_events import DONE, finish, text, usage
from tests.fakes.postgres import Postgres
from tests.fakes.redis_server import RedisServer
from tests.fakes.scrape import Samples, scrape
from tests.fakes.waiting import until

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]

TURNS = "lantern_turns_totalcompleted"
ANSWER = Reply([text("Hel"), text("lo"), finish(), usage(7, 2), DONE])
WRITTEN_S = 1.5
"""By then each process has told the others what it counted."""


@pytest.fixture(scope="module")
def services() -> Iterator[tuple[Postgres, RedisServer]]:
    with Postgres.temporary() as postgres, RedisServer.temporary() as redis:
        yield postgres, redis


@pytest.fixture
def cluster(
    tmp_path: Path, upstream: FakeUpstream, services: tuple[Postgres, RedisServer]
) -> Iterator[Cluster]:
    """An installation of which nothing runs yet."""
    upstream.enqueue(ANSWER)
    postgres, redis = services
    folder = tmp_path / f"lantern_{time.monotonic_ns()}"
    toml = TOML.format(base_url=upstream.base_url, key=KEY)
    made = Cluster(folder, toml, postgres, redis.url)
    yield made
    for server in made.servers:
        server.kill()


class Family:
    """The processes on one port, and the sums that they told."""

    def __init__(self, server: Several) -> None:
        self.server = server
        self.told: Samples = {}

    @property
    def pids(self) -> list[int]:
        """The web processes that live."""
        parent = self.server.pid
        text = Path(f"/proc/{parent}/task/{parent}/children").read_text()
        return [int(pid) for pid in text.split()]

    @contextmanager
    def only(self, pid: int) -> Iterator[None]:
        """Every connection is this one's: the others hold still."""
        others = [each for each in self.pids if each != pid]
        for other in others:
            os.kill(other, signal.SIGSTOP)
        try:
            yield
        finally:
            for other in others:
                os.kill(other, signal.SIGCONT)

    async def ask(self, pid: int | None = None) -> Samples:
        """A scrape, of one process or any; no sum may be less than it was."""
        if pid is not None:
            with self.only(pid):
                return await self.ask()
        found = await scrape(self.server.url)
        sums = {k: v for k, v in found.items() if k.startswith("lantern_")}
        sums = {name: value for name, value in sums.items() if "_total" in name}
        assert {k: v for k, v in self.told.items() if sums.get(k, -1) < v} == {}
        self.told = sums
        return found

    async def run(self, pid: int, turns: int) -> None:
        """Turns that one process takes and runs."""
        with self.only(pid):
            async with Client(self.server.url, KEY) as client:
                for _ in range(turns):
                    await client.ended(await client.post(await client.create()))


async def test_sums_outlive_a_killed_process(
    cluster: Cluster, upstream: FakeUpstream, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    server = cluster.make(Several, 2, TMPDIR=str(shared))
    family = Family(server)
    try:
        await asyncio.to_thread(server.start)
        await until(lambda: len(family.pids) == 2)
        await asyncio.sleep(WRITTEN_S)  # until both serve
        one, other = family.pids
        await family.run(one, turns=3)
        assert (await family.ask(one))[TURNS] == 3
        # At once: what was told is never taken back, whoever is asked next.
        assert (await family.ask(other))[TURNS] == 3
        await family.run(other, turns=2)
        await asyncio.sleep(WRITTEN_S)
        assert {(await family.ask(pid))[TURNS] for pid in (one, other)} == {5}
        await _kill(family, one)
        assert (await family.ask())[TURNS] == 5
        third = next(pid for pid in family.pids if pid != other)
        await family.run(third, turns=1)
        await asyncio.sleep(WRITTEN_S)
        for pid in (third, other):
            found = await family.ask(pid)
            assert found[TURNS] == len(upstream.requests) == 6
            assert found["lantern_tokens_totalgpt-xinprimary"] == 6 * 7
            assert found["process_resident_memory_bytes1"] > 1_000_000
            assert found["process_resident_memory_bytes2"] > 1_000_000
        assert len(list(shared.iterdir())) == 1
        assert await asyncio.to_thread(server.stop) == 0
        assert list(shared.iterdir()) == []
    finally:
        server.stop()


async def _kill(family: Family, pid: int) -> None:
    """SIGKILL while it holds a stream, and scrape on until another is in its place."""
    async with Client(family.server.url, KEY) as client:
        with family.only(pid):
            stream = client.events(await client.create())
            await anext(stream)
        async with aclosing(stream):
            await asyncio.sleep(WRITTEN_S)
            assert (await family.ask())["lantern_open_streamssse"] == 1
            os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(20):
                while pid in family.pids or len(family.pids) < 2:
                    await family.ask()
            for _ in range(30):  # while it starts, and takes over
                found = await family.ask()
                await asyncio.sleep(0.1)
            assert found["lantern_open_streamssse"] == 0
            with pytest.raises(httpx.HTTPError):
                await anext(stream)


def watched(cluster: Cluster, *arguments: str, **env: str) -> Worker:
    """A worker with a port."""
    worker = cluster.make(Worker, **env)
    worker.arguments += ("--port", str(worker.port), *SERVER, *arguments)
    cluster.workers = [worker]
    return worker


async def test_worker_counts_the_turn_it_ran(cluster: Cluster) -> None:
    worker = watched(cluster)
    del cluster.web[1]
    cluster.heal()
    async with Client(cluster.web[0].url, KEY) as client:
        turn = await client.ended(await client.post(await client.create()))
        assert turn["status"] == "completed"
    found = await scrape(worker.url)
    assert found[TURNS] == 1
    assert found["lantern_tokens_totalgpt-xinprimary"] == 7
    assert found["process_resident_memory_bytes"] > 1_000_000
    assert TURNS not in await scrape(cluster.web[0].url)


async def test_worker_answers_what_looks_after_it(cluster: Cluster) -> None:
    worker = watched(
        cluster, LANTERN_ALLOWED_HOSTS="chat.example", LANTERN_HEADER_TIMEOUT_S="1"
    )
    await asyncio.to_thread(worker.start)
    async with httpx.AsyncClient(base_url=worker.url, trust_env=False) as client:

        async def status(path: str, **headers: str) -> int:
            return (await client.get(path, headers=headers)).status_code

        assert await status("/health") == await status("/ready") == 200
        assert await status("/ready", host="10.1.2.3:9100") == 200
        assert await status("/metrics", host="[fd00::1]:9100") == 200
        assert await status("/metrics", host="evil.example") == 400
        assert await status("/metrics", forwarded="for=192.0.2.1") == 401
        for path in ("/", "/admin/", "/v1/sessions", "/widget.js", "/static/x"):
            assert await status(path) == 404
        answer = await client.post("/v1/sessions/ses_x/messages", content=b"{}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            404,
            "not_found",
        )
        upgrade = {"connection": "upgrade", "upgrade": "websocket"}
        key = {"sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        version = {"sec-websocket-version": "13"}
        assert await status("/v1/socket", **upgrade, **key, **version) == 403
    if "daphne" in SERVER:
        reader, writer = await asyncio.open_connection("127.0.0.1", worker.port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: loc")
        assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()
    assert await asyncio.to_thread(worker.stop) == 0


async def test_draining_worker_is_not_ready(
    cluster: Cluster, upstream: FakeUpstream
) -> None:
    upstream.replace(Reply([text("Hel"), HOLD]))
    worker = watched(cluster, "--drain", "10")
    del cluster.web[1]
    cluster.heal()
    async with (
        Client(cluster.web[0].url, KEY) as client,
        httpx.AsyncClient(base_url=worker.url, trust_env=False) as looks,
    ):
        posted = await client.post(await client.create())
        await client.first("message_delta", posted)
        os.kill(worker.pid, signal.SIGTERM)
        await asyncio.sleep(0.3)
        ready = await looks.get("/ready")
        assert (ready.status_code, ready.json()["status"]) == (503, "draining")
        assert (await looks.get("/health")).status_code == 200
        assert (await scrape(worker.url))["lantern_draining"] == 1
        await client.cancel(posted)
        assert (await client.ended(posted))["status"] == "cancelled"
    assert worker.process is not None
    assert await asyncio.to_thread(worker.process.wait, 15) == 0


async def test_taken_port_ends_a_worker_with_a_sentence(cluster: Cluster) -> None:
    worker = watched(cluster)
    await asyncio.to_thread(worker.start)
    other = cluster.make(Worker)
    other.arguments = worker.arguments
    with pytest.raises(AssertionError, match="choose another --port"):
        await asyncio.to_thread(other.start)
