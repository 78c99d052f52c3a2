"""Which host a probe must ask for: none for health, no site's name for metrics.

A web process answered 400 to probes that name it by its address, as load balancers and
Kubernetes do, unless ``LANTERN_ALLOWED_HOSTS`` listed it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.edge import Live

ADDRESSES = ["10.1.2.3", "10.1.2.3:8000", "[fd00::1]:8000", "localhost:8000"]
NAMES = ["lantern-0.lantern.svc", "localhost.evil.example", "evil.example:8000", "a/b"]
LOOPBACK = "127.0.0.1"


async def status(live: Live, path: str, host: str, **headers: str) -> int:
    given = {"host": host, **headers}
    answer = await live.client.request("GET", path, peer=LOOPBACK, headers=given)
    return answer.status


@pytest.fixture(params=[["chat.example"], [".chat.example"]])
def _hosts(request: pytest.FixtureRequest, settings: Any) -> None:
    settings.ALLOWED_HOSTS = request.param


@pytest.mark.usefixtures("_hosts")
@pytest.mark.parametrize("host", [*ADDRESSES, *NAMES, "chat.example"])
@pytest.mark.parametrize("path", ["/health", "/ready"])
async def test_health_is_told_to_any_host(live: Live, path: str, host: str) -> None:
    assert await status(live, path, host) == 200


@pytest.mark.usefixtures("_hosts")
@pytest.mark.parametrize("host", [*ADDRESSES, "chat.example"])
async def test_metrics_are_told_to_an_address(live: Live, host: str) -> None:
    assert await status(live, "/metrics", host) == 200


# A page of evil.example could point its name at this machine, and read them.
@pytest.mark.usefixtures("_hosts")
@pytest.mark.parametrize("host", NAMES)
async def test_metrics_by_an_unknown_name_take_a_token(
    live: Live, settings: Any, host: str
) -> None:
    assert await status(live, "/metrics", host) == 400
    settings.LANTERN_METRICS_TOKEN = "secret"
    assert await status(live, "/metrics", host) == 401
    token = {"authorization": "Bearer secret"}
    assert await status(live, "/metrics", host, **token) == 200


@pytest.mark.usefixtures("_hosts")
@pytest.mark.parametrize("host", [*ADDRESSES, *NAMES])
@pytest.mark.parametrize("path", ["/", "/admin/login/", "/v1/sessions", "/health/"])
async def test_all_else_keeps_to_the_list(live: Live, path: str, host: str) -> None:
    assert await status(live, path, host) == 400
