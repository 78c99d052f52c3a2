from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.http import close_transports
from tests.fakes.fake_upstream import FakeUpstream


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as server:
        yield server
        await close_transports()


@pytest.fixture
def config(upstream: FakeUpstream) -> ProviderConfig:
    return ProviderConfig(
        name="primary",
        kind="openai",
        base_url=upstream.base_url,
        api_key="sk-secret-of-the-test",
        allow_private=True,
    )
