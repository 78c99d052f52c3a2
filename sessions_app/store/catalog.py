"""Agents, providers and prices."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from sessions_app.domain.errors import BadRequest
from sessions_app.domain.route import Candidate, ProviderConfig, split_route_entry
from sessions_app.domain.usage import PriceRule, price_for
from sessions_app.models import Agent, Price, Provider

logger = logging.getLogger(__name__)


def agent_for(slug: str | None) -> Agent:
    """The enabled agent of that slug, or the default one; BadRequest if none."""
    agents = Agent.objects.filter(is_enabled=True)
    if slug is None:
        agent = agents.filter(is_default=True).first() or agents.first()
    else:
        agent = agents.filter(slug=slug).first()
    if agent is None:
        raise BadRequest("There is no such agent.", param="agent")
    return agent


def enabled_agents() -> list[str]:
    """The slugs of all enabled agents."""
    slugs = Agent.objects.filter(is_enabled=True).values_list("slug", flat=True)
    return list(slugs)


def enabled_providers() -> list[Provider]:
    """All enabled providers."""
    return list(Provider.objects.filter(is_enabled=True))


def candidates_of(route: Iterable[str]) -> tuple[Candidate, ...]:
    """The route's steps with their accounts; steps that lead nowhere are left out."""
    steps = [split_route_entry(entry) for entry in route]
    providers = {
        provider.name: provider
        for provider in Provider.objects.filter(
            name__in={name for name, _ in steps}, is_enabled=True
        ).prefetch_related("prices")
    }
    found = []
    for name, model in steps:
        provider = providers.get(name)
        if provider is None:
            logger.error("The route names the provider %s, which is not there.", name)
            continue
        rules = [_rule(price) for price in provider.prices.all()]
        found.append(Candidate(config_of(provider), model, price_for(model, rules)))
    return tuple(found)


def config_of(provider: Provider) -> ProviderConfig:
    """The account as an adapter needs it."""
    return ProviderConfig(
        name=provider.name,
        kind=provider.kind,
        base_url=provider.base_url,
        api_key=provider.api_key,
        allow_private=provider.allow_private,
        connect_timeout_s=provider.connect_timeout_s,
        first_content_timeout_s=provider.first_content_timeout_s,
        idle_timeout_s=provider.idle_timeout_s,
    )


def _rule(price: Price) -> PriceRule:
    return PriceRule(
        model=price.model,
        input=price.input,
        output=price.output,
        cached_input=price.cached_input,
        cache_write=price.cache_write,
    )


def first_agent_of(slugs: Iterable[str]) -> Agent:
    """The default one among some agents, or the first; BadRequest if none is left."""
    agents = Agent.objects.filter(is_enabled=True, slug__in=list(slugs))
    agent = agents.order_by("-is_default", "slug").first()
    if agent is None:
        raise BadRequest("There is no agent that this credential may use.")
    return agent


def route_models() -> list[str]:
    """Every ``provider/model`` that an agent's route names, once each."""
    routes = Agent.objects.filter(is_enabled=True).values_list("route", flat=True)
    return list(dict.fromkeys(entry for route in routes for entry in route))


def route_to(provider: str | None, model: str | None) -> str:
    """The route of a direct choice; the model may be left to the agents' routes."""
    known = route_models()
    for entry in known:
        name, known_model = split_route_entry(entry)
        if provider in (None, name) and model in (None, known_model, entry):
            return entry
    if provider is None or model is None:
        raise BadRequest("There is no such provider or model.", param="provider")
    if not Provider.objects.filter(name=provider, is_enabled=True).exists():
        raise BadRequest("There is no such provider.", param="provider")
    return f"{provider}/{model}"
