from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from sessions_app.domain.errors import ProviderRefused
from sessions_app.domain.parts import UsagePart
from sessions_app.domain.route import ProviderConfig
from sessions_app.providers.openai import OpenAIAdapter
from sessions_app.providers.openai.chunk import Chunk
from sessions_app.providers.openai.services import Service, service_of, services
from sessions_app.provision.sections.provider import check_base_url
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.openai_events import DONE, event, finish, text
from tests.fakes.outcomes import ask, collect

GOOD = [text("Hello"), finish(), DONE]
GROQ = event(
    {
        "choices": [],
        "x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    }
)
FIELDS = {"stream_options", "tool_choice", "tools", "temperature", "max_tokens"}


def at(base_url: str, name: str = "") -> str:
    config = ProviderConfig("p", "openai", base_url=base_url, service=name)
    return service_of(config).name


@pytest.mark.parametrize("service", services().values(), ids=services())
def test_entry_can_be_used(service: Service) -> None:
    check_base_url(service.base_url or service.example)
    assert (service.base_url or service.example).endswith("/v1")
    assert service.source.startswith("https://")
    assert date(2026, 1, 1) < service.as_of <= date.today()
    assert set(service.refuses) <= FIELDS
    assert not service.usage_in or service.usage_in in Chunk.__struct_fields__
    assert not (service.is_local and service.needs_key)


@pytest.mark.parametrize(
    ("base_url", "name", "found"),
    [
        ("https://api.mistral.ai/v1", "", "mistral"),
        ("https://API.Mistral.ai/v1", "", "mistral"),
        ("https://api.together.xyz/v1", "", "together"),
        ("https://shop.openai.azure.com/openai/v1", "", "azure"),
        ("https://api.openai.com/v1", "", "openai"),
        ("https://proxy.example/v1", "mistral", "mistral"),
        ("https://api.mistral.ai/v1", "groq", "groq"),
        ("https://api.mistral.ai.example/v1", "", ""),
        ("http://127.0.0.1:11434/v1", "", ""),
        ("https://api.example.com/v1", "gone", ""),
        ("http://[", "", ""),
        ("", "", ""),
    ],
)
def test_service_is_the_named_one_or_that_of_the_host(
    base_url: str, name: str, found: str
) -> None:
    assert at(base_url, name) == found


async def test_known_refusal_costs_no_request(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply(GOOD))
    mistral = replace(config, service="mistral")
    assert (await collect(OpenAIAdapter(), mistral, ask())).text == "Hello"
    (sent,) = upstream.requests
    assert "stream_options" not in sent.json


# The second request, without the option, was for nothing where it never was there.
async def test_refused_request_is_sent_once_to_a_known_service(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply(status=400))
    mistral = replace(config, service="mistral")
    outcome = await collect(OpenAIAdapter(), mistral, ask())
    assert isinstance(outcome.error, ProviderRefused)
    assert len(upstream.requests) == 1


async def test_key_goes_into_the_header_of_the_service(
    upstream: FakeUpstream, config: ProviderConfig
) -> None:
    upstream.enqueue(Reply(GOOD))
    await collect(OpenAIAdapter(), replace(config, service="azure"), ask())
    headers = upstream.requests[0].headers
    assert headers["api-key"] == config.api_key
    assert "authorization" not in headers


@pytest.mark.parametrize(
    ("service", "usage"), [("groq", UsagePart(7, 2)), ("", UsagePart())]
)
async def test_usage_is_found_where_the_service_puts_it(
    upstream: FakeUpstream, config: ProviderConfig, service: str, usage: UsagePart
) -> None:
    upstream.enqueue(Reply([text("Hello"), finish(), GROQ, DONE]))
    outcome = await collect(OpenAIAdapter(), replace(config, service=service), ask())
    assert (outcome.usage, outcome.error) == (usage, None)


@pytest.mark.parametrize(
    "odd", [None, 7, [], {"usage": 7}, {"usage": {}}, {"usage": []}]
)
async def test_odd_holder_of_usage_does_no_harm(
    upstream: FakeUpstream, config: ProviderConfig, odd: object
) -> None:
    upstream.enqueue(Reply([event({"choices": [], "x_groq": odd}), *GOOD]))
    outcome = await collect(OpenAIAdapter(), replace(config, service="groq"), ask())
    assert (outcome.text, outcome.usage) == ("Hello", UsagePart())
