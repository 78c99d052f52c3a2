"""Agents, providers, prices and tools."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db.models import Model
from django.db.models.functions import Now
from django.db.models.signals import post_delete, post_save

from sessions_app.domain.context import window_of
from sessions_app.domain.errors import BadRequest
from sessions_app.domain.lists import texts_fault, texts_of
from sessions_app.domain.route import (
    Candidate,
    ProviderConfig,
    route_entry_fault,
    split_route_entry,
)
from sessions_app.domain.tooling import ToolConfig
from sessions_app.domain.usage import PriceRule, price_for
from sessions_app.models import Agent, Alert, Price, Provider, Tool
from sessions_app.store.shipped_prices import shipped_price

logger = logging.getLogger(__name__)

CATALOG_TTL_S = 2.0

T = TypeVar("T")


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


def _load_provider_names() -> list[str]:
    return list(Provider.objects.filter(is_enabled=True).values_list("name", flat=True))


@dataclass(frozen=True, slots=True)
class _Account:
    config: ProviderConfig
    rules: list[PriceRule]
    cool_until: float
    has_alert: bool
    context_tokens: int | None


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What an agent's turns need to know of it."""

    slug: str
    system_prompt: str
    route: tuple[str, ...]
    tools: tuple[str, ...]
    is_streaming_rounds: bool
    canned_reply: str
    max_output_tokens: int | None
    context_tokens: int | None
    memory: bool
    temperature: float | None


def _load_accounts() -> dict[str, _Account]:
    rows = Provider.objects.filter(is_enabled=True).prefetch_related("prices")
    alerts = set(Alert.objects.values_list("key", flat=True))
    return {
        row.name: _Account(
            config_of(row),
            [_rule(price) for price in row.prices.all()],
            # The database's clock measures, this process's own counts down.
            time.monotonic() + cools_for_s(row) if row.cool_until else 0.0,
            auth_alert_key(row.name) in alerts,
            row.context_tokens,
        )
        for row in rows.annotate(now=Now())
    }


def cools_for_s(provider: Provider) -> float:
    """Seconds that its cool-down has left; reads ``now``, the database's clock."""
    if provider.cool_until is None:
        return 0.0
    now: datetime = provider.now  # type: ignore[attr-defined]
    return max(0.0, (provider.cool_until - now).total_seconds())


def auth_alert_key(provider: str) -> str:
    """The alert that a provider refuses the server's key."""
    return f"provider_auth:{provider}"


def _load_plans() -> dict[int, AgentPlan]:
    return {
        agent.pk: AgentPlan(
            slug=agent.slug,
            system_prompt=agent.system_prompt,
            route=route_of(agent.route, f"the agent {agent.slug}"),
            tools=names_of(agent.tools, f"The tools of the agent {agent.slug}"),
            is_streaming_rounds=agent.stream_last_round,
            canned_reply=agent.canned_reply,
            max_output_tokens=agent.max_output_tokens,
            context_tokens=agent.context_tokens,
            memory=agent.memory,
            temperature=agent.temperature,
        )
        for agent in Agent.objects.all()
    }


def names_of(value: object, whose: str) -> tuple[str, ...]:
    """The texts of a row's list; what is malformed is left out and logged.

    All rows are read at once, so one of them must not be in the way of the others.
    """
    found = texts_of(value)
    if not isinstance(value, list) or len(found) < len(value):
        logger.error("%s should be a list of texts, not %.200r.", whose, value)
    return found


def route_of(value: object, whose: str) -> tuple[str, ...]:
    """The steps of a route; those that are malformed are left out and logged."""
    steps = names_of(value, f"The route of {whose}")
    faults = {step: route_entry_fault(step) for step in steps}
    for fault in filter(None, faults.values()):
        logger.error("A step of the route of %s %.200s", whose, fault)
    return tuple(step for step in steps if not faults[step])


def tool_config(tool: Tool) -> ToolConfig:
    """The tool as the code behind it needs it; ValueError if the row is malformed."""
    headers = json.loads(tool.headers or "{}")
    if not isinstance(tool.settings, dict) or not isinstance(headers, dict):
        raise ValueError("settings and headers must be JSON objects")
    if len(texts_of(list(headers.values()))) < len(headers):
        raise ValueError("headers must be texts")
    return ToolConfig(
        name=tool.name,
        kind=tool.kind,
        description=tool.description,
        settings=tool.settings,
        headers=headers,
        allow_private=tool.allow_private,
        needs_approval=tool.needs_approval,
    )


def _load_tools() -> dict[str, ToolConfig]:
    found = {}
    for tool in Tool.objects.filter(is_enabled=True):
        try:
            found[tool.name] = tool_config(tool)
        except ValueError as error:
            logger.error("The tool %s cannot be offered: %s", tool.name, error)
    return found


class Kept(Generic[T]):
    """Rows that every turn needs, read again every few seconds.

    Decrypting a provider's key alone costs more than a query. A change in this
    process counts at once, one in another process after CATALOG_TTL_S.
    """

    def __init__(self, load: Callable[[], T], *models: type[Model]) -> None:
        self._load = load
        self._kept: tuple[float, T] | None = None
        for model in models:
            post_save.connect(self.forget, sender=model)
            post_delete.connect(self.forget, sender=model)

    def get(self) -> T:
        """The rows, at most CATALOG_TTL_S old."""
        kept = self._kept
        now = time.monotonic()
        if kept is None or now - kept[0] >= CATALOG_TTL_S:
            kept = self._kept = (now, self._load())
        return kept[1]

    def forget(self, **_: Any) -> None:
        """Read again at the next call."""
        self._kept = None


provider_names = Kept(_load_provider_names, Provider)
accounts = Kept(_load_accounts, Provider, Price, Alert)
plans = Kept(_load_plans, Agent)
tools = Kept(_load_tools, Tool)


def plan_of(agent_id: int) -> AgentPlan:
    """The agent of a session; agents with sessions cannot be deleted."""
    plan = plans.get().get(agent_id)
    if plan is None:  # made by another process a moment ago
        plans.forget()
        plan = plans.get()[agent_id]
    return plan


def candidates_of(
    route: object, most_tokens: int | None = None
) -> tuple[Candidate, ...]:
    """The route's steps with their accounts; steps that lead nowhere are left out.

    So is what is no step at all: a row may hold anything.

    ``most_tokens`` bounds their context windows.
    """
    known = accounts.get()
    found = []
    steps = route_of(list(route) if isinstance(route, tuple) else route, "a turn")
    for name, model in map(split_route_entry, steps):
        account = known.get(name)
        if account is None:
            logger.error("The route names the provider %s, which is not there.", name)
            continue
        window = account.context_tokens or window_of(model)
        # What the host has typed wins, also where it is less specific.
        price = price_for(model, account.rules) or shipped_price(
            account.config.base_url, model
        )
        found.append(
            Candidate(
                account.config,
                model,
                price,
                account.cool_until,
                account.has_alert,
                window if most_tokens is None else min(window, most_tokens),
            )
        )
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
        command=_command_of(provider),
        output=provider.output,
        text_path=provider.text_path,
        service=provider.service,
    )


def _command_of(provider: Provider) -> tuple[str, ...]:
    """Nothing where it is malformed: with a part left out it does other things."""
    if fault := texts_fault(provider.command):
        logger.error("The command of the provider %s %s", provider.name, fault)
        return ()
    return tuple(provider.command)


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


def route_models(allowed: Collection[str] | None) -> list[str]:
    """Every ``provider/model`` that the routes of the allowed agents name, once each.

    ``allowed`` None means every agent.
    """
    agents = Agent.objects.filter(is_enabled=True)
    if allowed is not None:
        agents = agents.filter(slug__in=allowed)
    routes = agents.values_list("slug", "route")
    steps = (route_of(route, f"the agent {slug}") for slug, route in routes)
    return list(dict.fromkeys(step for each in steps for step in each))


def route_to(
    provider: str | None, model: str | None, allowed: Collection[str] | None
) -> str:
    """The route of a direct choice; the model may be left to the agents' routes.

    Who may use every agent may use every model of a provider; others only those that
    their agents use.
    """
    for entry in route_models(allowed):
        name, known_model = split_route_entry(entry)
        if provider in (None, name) and model in (None, known_model, entry):
            return entry
    if not provider or not model or allowed is not None:
        raise BadRequest("There is no such provider or model.", param="provider")
    if not Provider.objects.filter(name=provider, is_enabled=True).exists():
        raise BadRequest("There is no such provider.", param="provider")
    return f"{provider}/{model}"
