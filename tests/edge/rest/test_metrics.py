"""``/metrics``, ``/health`` and ``/ready``: who may read them, and what they say."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app.lifecycle import lifecycle
from tests.fakes.edge import Live
from tests.fakes.scrape import samples

LOOPBACK = "127.0.0.1"


async def read(live: Live) -> dict[str, float]:
    """Every sample by name and labels."""
    answer = await live.client.request("GET", "/metrics", peer=LOOPBACK)
    assert answer.status == 200
    assert (answer.header("content-type") or "").startswith("text/plain")
    return samples(answer.body.decode())


async def test_turn_is_counted_once(live: Live) -> None:
    before = await read(live)
    await live.run()
    after = await read(live)

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert grown("lantern_turns_totalcompleted") == 1
    assert grown("lantern_deltas_total") == 2
    assert (
        grown(
            "lantern_http_requests_total/v1/sessions/<str:session_id>/messages202POST"
        )
        == 1
    )
    assert after["lantern_open_turnsrunning"] == 0
    assert after["process_resident_memory_bytes"] > 1_000_000


async def test_tokens_of_attempts_are_added(live: Live) -> None:
    before = await read(live)
    turn = await live.run()
    after = await read(live)
    names = [name for name in after if name.startswith("lantern_tokens_total")]
    grown = sum(after[name] - before.get(name, 0) for name in names)
    usage = turn["usage"]
    assert grown == usage["tokensIn"] + usage["tokensOut"] > 0


async def test_open_stream_is_gauged(live: Live) -> None:
    async with live.client.stream(f"{live.path}/events") as stream:
        await stream.frame()
        assert (await read(live))["lantern_open_streamssse"] == 1
    assert (await read(live))["lantern_open_streamssse"] == 0


async def test_made_up_paths_share_a_label(live: Live) -> None:
    for number in range(3):
        await live.client.request("GET", f"/nothing/{number}")
        await live.client.request(f"ODD{number}", "/health")
    names = [name for name in await read(live) if "nothing" in name or "ODD" in name]
    assert names == []


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        ("192.0.2.1", {}),
        (LOOPBACK, {"x-forwarded-for": "192.0.2.1"}),
        (LOOPBACK, {"forwarded": "for=192.0.2.1"}),
    ],
)
async def test_others_may_not_read_metrics(
    live: Live, peer: str, headers: dict[str, str]
) -> None:
    answer = await live.client.request("GET", "/metrics", peer=peer, headers=headers)
    assert (answer.status, answer.code) == (401, "unauthorized")


async def test_token_opens_metrics_from_anywhere(live: Live, settings: Any) -> None:
    settings.LANTERN_METRICS_TOKEN = "secret"
    for token, status in (("secret", 200), ("other", 401), ("", 401)):
        headers = {"authorization": f"Bearer {token}"}
        answer = await live.client.request("GET", "/metrics", headers=headers)
        assert answer.status == status
    assert (await live.client.request("GET", "/metrics", peer=LOOPBACK)).status == 401


async def test_ready_names_each_part(live: Live) -> None:
    answer = await live.client.request("GET", "/ready")
    assert answer.status == 200
    assert answer.json == {
        "status": "ready",
        "database": True,
        "log": True,
        "layer": True,
    }


async def test_ready_fails_while_draining(live: Live) -> None:
    lifecycle.is_draining = True
    answer = await live.client.request("GET", "/ready")
    assert (answer.status, answer.json["status"]) == (503, "draining")
    assert answer.header("retry-after")
    assert (await live.client.request("GET", "/health")).status == 200


async def test_draining_process_refuses_messages(live: Live) -> None:
    lifecycle.is_draining = True
    answer = await live.post()
    assert (answer.status, answer.code) == (503, "worker_shutdown")
    assert answer.header("retry-after")
