"""Agents and keys in the dashboard: their lists, without brackets and quotes."""

from __future__ import annotations

from typing import Any

from django import forms

from sessions_app.authority import SESSION_RIGHTS_OF, Grant, scopes_out_of_reach
from sessions_app.domain.lists import texts_fault, texts_of
from sessions_app.domain.route import split_route_entry
from sessions_app.lines_field import Lines
from sessions_app.models import Agent, ApiKey, Provider, Tool
from sessions_app.models.api_key import (
    ALL_AGENTS,
    SCOPES,
    default_agents,
    default_scopes,
)
from sessions_app.tools.builtin import BUILTIN
from sessions_app.user_form import UserForm


def route_fault(line: str) -> str:
    """Why a step of a route leads nowhere; empty if it does."""
    try:
        provider, _ = split_route_entry(line)
    except ValueError as error:
        return f"{error}."
    if not Provider.objects.filter(name=provider).exists():
        return f"there is no provider {provider!r}."
    return ""


def tool_fault(line: str) -> str:
    """Why an agent cannot have this tool; empty if it can."""
    if line in BUILTIN or Tool.objects.filter(name=line).exists():
        return ""
    return f"there is no tool {line!r}."


def agent_fault(line: str) -> str:
    """Why a key cannot be for this agent; empty if it can."""
    if line == ALL_AGENTS or Agent.objects.filter(slug=line).exists():
        return ""
    return f"there is no agent {line!r}."


class AgentForm(forms.ModelForm[Agent]):
    """Route and tools are lines."""

    route = Lines(
        fault_of=route_fault,
        help_text="Candidates as provider/model, one a line, tried in order.",
    )
    tools = Lines(
        required=False,
        fault_of=tool_fault,
        help_text="Names of tools, one a line; built in:"
        f" {', '.join(sorted(BUILTIN))}.",
    )

    class Meta:
        model = Agent
        fields = (
            "slug",
            "is_default",
            "is_enabled",
            "system_prompt",
            "route",
            "tools",
            "stream_last_round",
            "canned_reply",
            "max_output_tokens",
            "context_tokens",
            "memory",
            "temperature",
            "attachments",
            "retention_days",
        )


class ApiKeyForm(UserForm[ApiKey]):
    """Agents are lines, scopes are boxes to tick."""

    agents = Lines(
        initial=default_agents,
        fault_of=agent_fault,
        help_text="Slugs of agents, one a line; * is every one.",
    )
    scopes = forms.MultipleChoiceField(
        initial=default_scopes,
        choices=[(each, each) for each in SCOPES],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = ApiKey
        fields = ("name", "agents", "scopes", "is_enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A row may hold anything, and is to be mended here.
        if "scopes" in self.initial:
            self.initial["scopes"] = list(texts_of(self.initial["scopes"]))

    def clean(self) -> dict[str, Any] | None:
        """A key shall not do what its maker may not."""
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        new = Grant.of(cleaned["scopes"], cleaned["agents"], cleaned["is_enabled"])
        more = new.beyond(self._old_grant())
        for scope in sorted(more & scopes_out_of_reach(self.user)):
            rights = ", ".join(SESSION_RIGHTS_OF[scope])
            self.add_error(
                "scopes",
                f"To give {scope} takes these permissions for sessions: {rights}.",
            )
        return cleaned

    def _old_grant(self) -> Grant:
        row = self.instance
        if row._state.adding or texts_fault(row.scopes) or texts_fault(row.agents):
            return Grant.of((), (), False)
        return Grant.of(row.scopes, row.agents, row.is_enabled)
