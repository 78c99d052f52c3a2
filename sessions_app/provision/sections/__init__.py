"""The sections of the server itself, one module each."""

from __future__ import annotations

from sessions_app.provision.sections.agent import AgentSection
from sessions_app.provision.sections.budget import BudgetSection
from sessions_app.provision.sections.key import KeySection
from sessions_app.provision.sections.limit import LimitSection
from sessions_app.provision.sections.price import PriceSection
from sessions_app.provision.sections.provider import ProviderSection
from sessions_app.provision.sections.tool import ToolSection

__all__ = [
    "AgentSection",
    "BudgetSection",
    "KeySection",
    "LimitSection",
    "PriceSection",
    "ProviderSection",
    "ToolSection",
]
