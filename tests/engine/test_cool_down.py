from __future__ import annotations

from sessions_app.domain.errors import ProviderAuth, ProviderRateLimited
from sessions_app.domain.parts import ToolCallReady
from sessions_app.models import Alert, Provider
from sessions_app.store import health
from sessions_app.store.catalog import accounts
from sessions_app.store.db import in_thread
from tests.engine.conftest import Engine
from tests.engine.upstreams import end, upstreams
from tests.fakes.fake_upstream import Reply
from tests.fakes.scripted_provider import STOP, ScriptedProvider, says

LIMITED = Reply(status=429, headers={"Retry-After": "60"})


async def test_limited_provider_is_left_alone_by_the_next_turn(engine: Engine) -> None:
    async with upstreams(engine, LIMITED) as pair:
        await pair.run("one")
        await pair.run("two")
    assert pair.asked == (1, 2)


async def test_cool_down_in_the_database_counts_for_every_process(
    engine: Engine,
) -> None:
    await in_thread(health.cool_down, "primary", 60.0)
    accounts.forget()  # as a process that read nothing yet
    provider = ScriptedProvider(says("Hi"))
    await engine.run(provider)
    assert [config.name for config in provider.configs] == ["backup"]


async def test_cool_down_that_is_over_counts_no_more(engine: Engine) -> None:
    await in_thread(health.cool_down, "primary", -1.0)
    provider = ScriptedProvider(says("Hi"))
    await engine.run(provider)
    assert [config.name for config in provider.configs] == ["primary"]


async def test_all_on_cool_down_are_asked_all_the_same(engine: Engine) -> None:
    for name in ("primary", "backup"):
        await in_thread(health.cool_down, name, 60.0)
    provider = ScriptedProvider(says("Hi"))
    await engine.run(provider)
    assert [config.name for config in provider.configs] == ["primary"]


async def test_shorter_cool_down_does_not_cut_a_longer_one(engine: Engine) -> None:
    await in_thread(health.cool_down, "primary", 60.0)
    await in_thread(health.cool_down, "primary", 1.0)
    found = {each.provider: each for each in await in_thread(health.provider_health)}
    assert found["primary"].cools_for_s > 50


async def test_next_round_of_the_turn_minds_the_cool_down(engine: Engine) -> None:
    engine.agent.tools = ["current_time"]
    await in_thread(engine.agent.save)
    asks = [ToolCallReady("call_1", "current_time"), STOP]
    limited = ProviderRateLimited(retry_after_s=60.0)
    provider = ScriptedProvider([limited], asks, says("Noon"))
    await engine.run(provider)
    names = [config.name for config in provider.configs]
    assert names == ["primary", "backup", "backup"]


async def test_day_long_retry_after_is_cut(engine: Engine, settings: object) -> None:
    settings.LANTERN = {"max_cool_down_s": 30.0}  # type: ignore[attr-defined]
    limited = ProviderRateLimited(retry_after_s=86_400.0)
    await engine.run(ScriptedProvider([limited], says("Hi")))
    found = {each.provider: each for each in await in_thread(health.provider_health)}
    assert 0 < found["primary"].cools_for_s <= 30


async def test_limit_without_a_time_makes_no_cool_down(engine: Engine) -> None:
    async with upstreams(engine, Reply(status=429)) as pair:
        await pair.run()
    row = await in_thread(Provider.objects.get, name="primary")
    assert row.cool_until is None


# C10 F: the provider refuses the server's own key
async def test_refused_key_fails_over_and_calls_the_operator(engine: Engine) -> None:
    async with upstreams(engine, Reply(status=401)) as pair:
        events = await pair.run("one")
        await pair.run("two")
    assert end(events) == ("message_completed", "fine")
    alert = await in_thread(Alert.objects.get)
    assert (alert.key, alert.count) == ("provider_auth:primary", 2)
    assert "primary" in alert.text


async def test_alert_is_over_when_the_key_is_taken_again(engine: Engine) -> None:
    await engine.run(ScriptedProvider([ProviderAuth()], says("one")))
    assert await in_thread(Alert.objects.exists)
    await engine.run(ScriptedProvider(says("two")), "again")
    assert not await in_thread(Alert.objects.exists)
