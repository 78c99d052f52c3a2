"""Configuration as a file: TOML to rows, checked line by line."""

from __future__ import annotations

from sessions_app.provision.apply import apply
from sessions_app.provision.errors import ProvisionError
from sessions_app.provision.registry import register_section
from sessions_app.provision.report import Report
from sessions_app.provision.sections import (
    AgentSection,
    BudgetSection,
    KeySection,
    LimitSection,
    PriceSection,
    ProviderSection,
    ToolSection,
)

__all__ = ["ProvisionError", "Report", "apply", "register_section"]

register_section("provider", ProviderSection())
register_section("price", PriceSection())
register_section("tool", ToolSection())
register_section("agent", AgentSection())
register_section("key", KeySection())
register_section("budget", BudgetSection())
register_section("limit", LimitSection())
